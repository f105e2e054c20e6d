package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readWhole reads a reply that is JSON from its beginning to its end: what looks
// like another form in it stands in a text.
func readWhole(r reply) (signature.Values, error) {
	r.text = strings.TrimSpace(Unfence(r.text))
	if !strings.HasPrefix(r.text, "{") || !json.Valid([]byte(r.text)) {
		return nil, nil
	}
	r.whole = true
	return readObject(r)
}

// readObject reads the one JSON object that has the output fields: the whole
// reply, a fenced block, or one in prose.
func readObject(r reply) (signature.Values, error) {
	objects, prose, behind, err := objectsIn(unquoted(r.withoutReasons()))
	if err != nil {
		return nil, err // what is in it may have been the answer
	}
	if last, ok := r.final(objects, behind); ok {
		objects, prose = []found{last}, last.before
	}
	all, rest := len(objects), objects
	objects, err = r.answers(objects)
	if len(objects) == 0 || err != nil {
		return nil, err
	}
	values, err := r.respell(objects[0])
	if err != nil {
		return nil, err
	}
	for _, o := range objects[1:] {
		if again, err := r.respell(o); err != nil || !equalValues(again, values) {
			return nil, structural("", "the reply has several objects with the fields; give one")
		}
	}
	if err := r.completed(values, rest); err != nil {
		return nil, err
	}
	if all > len(objects) && examples.MatchString(prose) {
		return nil, structural("", "the object may be an example; give the answer alone")
	}
	if strings.HasSuffix(strings.TrimSpace(prose), ",") {
		return nil, structural("", "the object is one of a list; give it alone")
	}
	if _, err := r.contradicted(values, prose); err != nil {
		return nil, err
	}
	if err := r.stand(values, r.withoutEmpty(r.withoutEndMark(strings.TrimLeft(behind, "]}.; \t\n")))); err != nil {
		return nil, err
	}
	return values, r.presentedAs(values, prose)
}

// completed reports whether one of several objects gives what the answer lacks.
func (r reply) completed(values signature.Values, objects []found) error {
	answered := false
	for _, o := range objects {
		o = r.unwrapped(o)
		if blankForm(o.Values) {
			continue
		}
		lacking, has := r.lacking(o.Values)
		if answered && !has && corrects(o.before) {
			return structural("", "what is said behind the answer may take it back; end with the answer")
		}
		answered = answered || lacking == nil
		words := r.filled(o)
		for _, v := range o.Values {
			f, known := fieldNamed(r.outputs, v.Name)
			if value, given := values.Get(f.Name); known && given && !sameValue(f, v.JSON, value, words) || known && !given && (f.Required || !isNothing(f, v.JSON, words)) {
				return structural(f.Name, "is given otherwise in another object than the answer; give one")
			}
		}
	}
	return nil
}

// isNothing reports whether a value is read as none.
func isNothing(f signature.Field, raw json.RawMessage, words bool) bool {
	value, err := bendField(f, raw, words)
	return err == nil && (value == nil || string(value) == "null")
}

func sameValue(f signature.Field, raw, value json.RawMessage, words bool) bool {
	bent, err := bendField(f, raw, words)
	return err == nil && equalJSON(bent, value)
}

// filled reports whether an object that is the whole reply has a text in it that is no
// placeholder, so that words such as TODO are what the others say. A reason, and a word of a
// list, say nothing of them.
func (r reply) filled(o found) bool {
	return r.whole && slices.ContainsFunc(o.Values, func(v signature.Value) bool {
		f, known := fieldNamed(r.outputs, v.Name)
		return known && !reasons[strings.ToLower(f.Name)] && isFilled(v.Name, v.JSON) && shapeOf(f).constants == nil
	})
}

// reasonsInTags finds reasons in tags before an answer, drafts included.
var reasonsInTags = regexp.MustCompile(`(?s)^\s*<(reasoning|analysis|rationale)>(.*?)</(reasoning|analysis|rationale)>\s*`)

// withoutReasons is a reply without such reasons, if they were not asked for.
func (r reply) withoutReasons() string {
	m := reasonsInTags.FindStringSubmatch(r.text)
	if m == nil || m[1] != m[3] {
		return r.text
	}
	if _, asked := fieldNamed(r.outputs, m[1]); asked {
		return r.text
	}
	return r.text[len(m[0]):]
}

// withoutEndMark is what is said behind an object without the marker that ends the
// other form.
func (r reply) withoutEndMark(behind string) string {
	return strings.TrimPrefix(strings.TrimLeft(behind, "`~ \n"), marker(EndName(r.outputs)))
}

var examples = regexp.MustCompile(`(?i)\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuch as\b`)

// unquoted is the JSON in a text that is a JSON string of it.
func unquoted(text string) string {
	if inner, ok := quotedText(strings.TrimSpace(Unfence(text))); ok && strings.HasPrefix(strings.TrimSpace(inner), "{") {
		return inner
	}
	return text
}

// found is an object in a reply.
type found struct {
	signature.Values
	unclosed bool
	inner    bool // an object within it is not closed
	bare     bool // some of its texts are words without quotes
	mended   bool // some of its texts had quotes that were not escaped
	comments []comment
	before   string // what is said between the object before and this one
}

// objectStart tells JSON, also where it is malformed, from braces in prose.
var objectStart = regexp.MustCompile("\\{\\s*(?:[\"'/#“]|[\\w$]+\\s*:)")

// objectsIn returns the outermost JSON objects of a text, the text before and
// between them, and that behind the last. It never looks inside a malformed
// object: what it holds may be a part of the answer, or an example.
func objectsIn(text string) (objects []found, prose, behind string, err error) {
	var around strings.Builder
	for {
		at := objectStart.FindStringIndex(text)
		if at == nil {
			return objects, around.String(), text, nil
		}
		var o found
		raw, l, err := readLax(text[at[0]:])
		if err == nil {
			err = json.Unmarshal(raw, &o.Values)
		}
		if err != nil {
			return nil, "", "", structural("", "the JSON object in the reply cannot be read: %s", strings.TrimPrefix(err.Error(), "signature: "))
		}
		o.before, o.mended = text[:at[0]], l.mended
		o.unclosed, o.inner, o.bare, o.comments = l.unclosed, l.inner, l.bare, l.comments
		objects = append(objects, o)
		around.WriteString(text[:at[0]])
		text = text[at[0]+l.at:]
	}
}

// lacking is what an object lacks of the required outputs, and whether it has any
// output at all.
func (r reply) lacking(object signature.Values) (lacking []Problem, has bool) {
	given := map[string]bool{}
	for _, v := range object {
		if f, ok := fieldNamed(r.outputs, v.Name); ok && string(v.JSON) != string(Quote(NotGiven)) {
			given[f.Name] = true
		}
	}
	for _, f := range r.outputs {
		if f.Required && !given[f.Name] {
			lacking = append(lacking, Problem{f.Name, Structure, "is missing"})
		}
	}
	return lacking, len(given) > 0
}

// answers are the objects that have every required output. That some have only
// a part of them is an error.
func (r reply) answers(objects []found) (whole []found, err error) {
	var partial []Problem
	for _, o := range objects {
		o = r.unwrapped(o)
		if len(objects) > 1 && blankForm(o.Values) {
			continue
		}
		switch lacking, has := r.lacking(o.Values); {
		case has && lacking == nil:
			whole = append(whole, o)
		case has && partial == nil:
			partial = r.allWrong(o, lacking)
		}
	}
	if whole == nil && partial != nil {
		return nil, &Error{partial}
	}
	return whole, nil
}

// allWrong is what is wrong with an object beside what it lacks, in the order of the
// fields: there is only one question to mend it.
func (r reply) allWrong(o found, lacking []Problem) []Problem {
	all := lacking
	if _, err := r.respell(o); err != nil {
		all = append(all, problemsOf(err)...)
	}
	place := func(p Problem) int {
		if at := slices.IndexFunc(r.outputs, func(f signature.Field) bool { return f.Name == p.Field }); at >= 0 {
			return at
		}
		return len(r.outputs)
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return place(a) - place(b) })
	return all
}

// wrappers are names under which models put the whole answer.
var wrappers = wordSet("function tool_calls function_call output outputs result results response answer answers data reply final input object json arguments parameters fields")

// wrapped is the only member of an object that says what is in it, also that of a
// call to a function, which has a name.
func wrapped(object signature.Values) (inner json.RawMessage) {
	for _, v := range object {
		name := strings.ToLower(v.Name)
		switch {
		case wrappers[name] && inner == nil:
			inner = v.JSON
		case successes[name] && succeeded[strings.ToLower(PlainText(v.JSON))]:
		case !callNames[name] || v.JSON[0] != '"':
			return nil
		}
	}
	return inner
}

var callNames = wordSet("name type id tool function tool_name tool_call_id recipient")

// successes are members that say how it went, and succeeded that it went well.
var successes, succeeded = wordSet("status success ok"), wordSet("ok success succeeded done complete completed finished true 200")

// calledOnce is what is given to the function of the only call of a list or an
// object, as providers write it: [{"function": {"arguments": …}}].
func calledOnce(raw json.RawMessage) json.RawMessage {
	var calls []json.RawMessage
	if json.Unmarshal(raw, &calls) == nil {
		if len(calls) != 1 {
			return nil
		}
		raw = calls[0]
	}
	var call signature.Values
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &call) != nil {
		return nil
	}
	inner := wrapped(call)
	if deeper := calledOnce(inner); deeper != nil {
		return deeper
	}
	return inner
}

// toolCall finds the tags in which models write a call.
var toolCall = regexp.MustCompile(`(?s)^\s*<(tool_call|function_call)>(.*)</(tool_call|function_call)>\s*$`)

// withoutCall is the call in such tags.
func withoutCall(text string) string {
	if m := toolCall.FindStringSubmatch(text); m != nil && m[1] == m[3] {
		return m[2]
	}
	return text
}

func (r reply) unwrapped(o found) found {
	raw := wrapped(o.Values)
	if inner := r.inside(o.Values); raw == nil && inner != nil {
		o.Values = inner
	}
	if raw == nil || r.tells(o.Values) {
		return o
	}
	for _, inside := range []json.RawMessage{raw, calledOnce(raw)} {
		var inner signature.Values
		if len(inside) > 0 && inside[0] == '"' {
			inside = json.RawMessage(PlainText(inside)) // the arguments of a call are often a text
		}
		if len(inside) == 0 || json.Unmarshal(inside, &inner) != nil {
			continue
		}
		if _, has := r.lacking(inner); has {
			o.Values = inner
			break
		}
	}
	return o
}

// inside is the answer in the only member of an object, whatever its name, if all of it
// is there and the name does not say that it is another's.
func (r reply) inside(object signature.Values) (inner signature.Values) {
	if len(object) != 1 || object[0].JSON[0] != '{' || !idleName(object[0].Name) || json.Unmarshal(object[0].JSON, &inner) != nil {
		return nil
	}
	if _, known := fieldNamed(r.outputs, object[0].Name); known {
		return nil
	}
	if lacking, _ := r.lacking(inner); lacking != nil {
		return nil
	}
	return inner
}

// tells reports whether an object is the answer itself, with a text that looks like
// another.
func (r reply) tells(object signature.Values) bool {
	f, only := r.only()
	return only && len(object) == 1 && object[0].Name == f.Name && object[0].JSON[0] == '"' && f.Schema.AnyText()
}

// respell gives the outputs of an object their own names and order, and reads
// those that are written otherwise: {"Score": "0.5"}.
func (r reply) respell(o found) (signature.Values, error) {
	given, extra, err := r.sorted(o)
	if err != nil {
		return nil, err
	}
	if mixed(r.times(o.Values)) {
		return nil, errMixed
	}
	values, words := make(signature.Values, 0, len(r.outputs)), r.filled(o)
	var problems []Problem
	for _, f := range r.outputs {
		raw, ok := given[f.Name]
		if o.unclosed && (!ok || o.inner && !shapeOf(f).hasAll(raw)) {
			return nil, structural("", "the JSON object in the reply cannot be read: %v", errCutValue)
		}
		if !ok || string(raw) == string(Quote(NotGiven)) {
			continue
		}
		value, err := bendField(f, raw, words)
		if string(raw) == "null" && !f.Required {
			value, err = nothing(f)
		}
		if err != nil {
			problems = append(problems, problemsOf(err)...)
			continue
		}
		if value == nil {
			continue
		}
		if len(o.comments) > 0 && shapeOf(f).chooses(o.comments) {
			problems = append(problems, Problem{f.Name, Structure, "has a comment that names another value; decide on one, and leave comments out"})
		}
		values = append(values, signature.Value{Name: f.Name, JSON: value})
	}
	if problems = append(problems, extra...); problems != nil {
		return nil, &Error{problems}
	}
	if err := r.reasoned(values); err != nil {
		return nil, err
	}
	return values, r.besides(values, o.Values)
}

// sorted are the members of an object that give an output, and what is wrong with
// the others.
func (r reply) sorted(o found) (given map[string]json.RawMessage, extra []Problem, err error) {
	given = map[string]json.RawMessage{}
	for i, v := range o.Values {
		f, known := fieldNamed(r.outputs, v.Name)
		_, twice := given[f.Name]
		switch {
		case known && twice:
			return nil, nil, structural(f.Name, "is given twice; give it once")
		case known && (o.unclosed || o.mended) && !shapeOf(f).known(v.JSON):
			return nil, nil, structural(f.Name, "has members that were not asked for, and lacks a bracket or has quotes that are not escaped; write it as JSON")
		case known && o.bare && !shapeOf(f).scalar():
			return nil, nil, structural(f.Name, "is a word without quotes; write JSON")
		case known:
			given[f.Name] = v.JSON
		case r.missed(o.Values, v):
			extra = append(extra, Problem{v.Name, Structure, "is no field of the answer, and may be one that it lacks; give it by its name, or leave it out"})
		case o.mended, !r.idle(v) && !(reasons[strings.ToLower(v.Name)] && r.precedes(o.Values[i+1:])):
			extra = append(extra, Problem{v.Name, Structure, "is no field of the answer, and may change what it says; leave it out"})
		}
	}
	return given, extra, nil
}

// Respell gives the values of an object that did not come in a reply as they are
// spelled right, or says what is wrong with them.
func Respell(spec *signature.Spec, object signature.Values) (signature.Values, error) {
	return reply{spec: spec, outputs: spec.Outputs(), whole: true}.respell(found{Values: object})
}
