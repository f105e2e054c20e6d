package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Kinds of evidence. [sandbox.Kind] describes the kinds that the sandbox also reports.
const (
	KindFailedEffect sandbox.Kind = "failed_effect" // a call that can change data failed, and the run did not settle it

	kindPartialList   sandbox.Kind = "partial_list" // a list that was not read to the end
	kindInexact       sandbox.Kind = "inexact"      // rounding errors of binary fractions in the answer
	kindLostValue     sandbox.Kind = "lost_value"
	kindNotAwaited    sandbox.Kind = "not_awaited"
	kindWrongType     sandbox.Kind = "wrong_type"
	kindMissingMember sandbox.Kind = "missing_member"
)

// order lists the kinds of facts, the most serious first. Warnings of other kinds are not
// evidence.
var order = []sandbox.Kind{
	KindFailedEffect, sandbox.KindCallLimit, kindLostValue, kindNotAwaited, kindWrongType,
	kindMissingMember, kindPartialList, kindInexact,
}

// Sorted returns the facts that are evidence, the most serious first. A fact of kind missing_member is evidence only
// together with a fact of a different kind.
func Sorted(facts []sandbox.Finding) []sandbox.Finding {
	rank := func(f sandbox.Finding) int { return slices.Index(order, f.Kind) }
	facts = slices.DeleteFunc(slices.Clone(facts), func(f sandbox.Finding) bool { return rank(f) < 0 })
	if !slices.ContainsFunc(facts, func(f sandbox.Finding) bool { return f.Kind != kindMissingMember }) {
		return nil
	}
	slices.SortStableFunc(facts, func(a, b sandbox.Finding) int { return rank(a) - rank(b) })
	return facts
}

var readingName = regexp.MustCompile(`^(get|list|search|find|read|describe|count|query)[A-Z_.-]|` +
	`[_.-](get|list|search|find|read|describe|count|query)$|[a-z](Get|List|Search|Find|Read|Describe|Count|Query)$`)

// Acts reports whether a call to the tool can change data. An unclassified tool whose name begins or ends with a word
// such as get or list counts as a tool that only reads.
func Acts(b *tools.Binding) bool {
	class := b.ReplayClass()
	return class != tools.Read &&
		(class != tools.Unclassified || b.Hints.Destructive || !readingName.MatchString(b.Name))
}

// Failed returns facts about failed effects. It leaves out effects that a later call shows or replaces, and effects
// whose error is in the answer. unresolved has the entries of the failed effects, entries has the entries of all calls
// in the run, and calls has the last program's calls.
func Failed(
	answer json.RawMessage, unresolved, entries []journal.Entry, calls []sandbox.Call, find func(string) *tools.Binding,
) (facts []sandbox.Finding) {
	for _, e := range unresolved {
		b := find(e.Tool)
		if b == nil || !Acts(b) || e.Err != nil && already.MatchString(e.Err.Error()) {
			continue
		}
		i := slices.IndexFunc(entries, func(o journal.Entry) bool { return o.ID == e.ID })
		fact := sandbox.Finding{Kind: KindFailedEffect}
		for _, c := range calls {
			if c.Tool == e.Tool && bytes.Equal(c.Args, e.Args) {
				fact.Line, fact.Column = c.Line, c.Column
			}
		}
		reason, format := "its outcome is unknown", "may not have taken effect: %s. Read whether it did, or"
		if te, ok := errors.AsType[*tools.ToolError](e.Err); ok {
			reason = display.Cut(te.Message, 200)
		}
		told, _ := json.Marshal(reason)
		later := entries[i+1:]
		if bytes.Contains(answer, told[1:len(told)-1]) || seen(e, later, b.Namespace, find) || replaced(e, later, b) {
			continue
		}
		if e.State == journal.StateFailed { // a call whose outcome is unknown must not be repeated
			format = "may not have taken effect: %s. Read whether it did, and repeat it if not, or"
		}
		args := display.Cut(string(e.Args), 200)
		fact.Message = fmt.Sprintf("%s(%s) "+format+" say so in the answer.", e.Tool, args, reason)
		facts = append(facts, fact)
	}
	return facts
}

var already = regexp.MustCompile(`(?i)\balready\b`)

// seen reports whether later calls to the server show an effect's result. That is the case if one of the server's lists
// was read to the end. It is also the case if no list was read in part, and a read either shares an argument with the
// effect or returned an array.
func seen(e journal.Entry, later []journal.Entry, server string, find func(string) *tools.Binding) bool {
	read, related := Lists{}, false
	for _, o := range later {
		b := find(o.Tool)
		if o.State != journal.StateOK || b == nil || b.Namespace != server {
			continue
		}
		read.Add(sandbox.Call{Args: o.Args, Result: o.Result}, b)
		related = related || !Acts(b) && (shares(e.Args, o.Args) || bytes.HasPrefix(o.Result, []byte("[")))
	}
	unfinished := len(read.unfinished(0, true))
	return len(read.lists) > unfinished || related && unfinished == 0
}

// shares reports whether the arguments of two calls, or lists in these arguments, have a value in
// common.
func shares(a, b json.RawMessage) bool {
	theirs := scalars(b)
	return slices.ContainsFunc(scalars(a), func(value string) bool { return slices.Contains(theirs, value) })
}

// scalars returns the arguments, and the elements of arguments that are lists, that can identify something.
func scalars(args json.RawMessage) (list []string) {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(args, &given)
	for _, value := range given {
		elements := []json.RawMessage{value}
		if value[0] == '[' {
			_ = json.Unmarshal(value, &elements)
		}
		for _, v := range elements {
			if text := string(v); len(text) > 1 && !slices.Contains([]string{`""`, "true", "false", "null"}, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// replaced reports whether a later call to the tool with the same first required argument succeeded, so that the
// program achieved the effect in another way.
func replaced(e journal.Entry, later []journal.Entry, b *tools.Binding) bool {
	var input struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(b.InputSchema, &input)
	value := func(e journal.Entry) json.RawMessage {
		var args map[string]json.RawMessage
		if json.Unmarshal(e.Args, &args) != nil || len(input.Required) == 0 {
			return nil
		}
		return args[input.Required[0]]
	}
	failed := value(e)
	return failed != nil && slices.ContainsFunc(later, func(o journal.Entry) bool {
		return o.Tool == e.Tool && o.State == journal.StateOK && bytes.Equal(value(o), failed)
	})
}

// Answer returns facts about values that no answer should contain, such as NaN in a string.
func Answer(answer json.RawMessage) []sandbox.Finding {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return values(v, "answer", nil)
}

var (
	lostText = regexp.MustCompile(`^\s*-?(NaN|undefined|Infinity)\b|[:=]\s*(NaN|undefined)\b|` +
		`^\S{0,12}\b(NaN|undefined)\b\S{0,12}$|\[object \w+\]`)
	longNumber = regexp.MustCompile(`(?:^|[^\w.])(-?\d+\.\d{9,})(?:$|[^\w.])`)
)

func values(v any, at string, facts []sandbox.Finding) []sandbox.Finding {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			facts = values(v[name], at+"."+name, facts)
		}
	case []any:
		for i, item := range v {
			facts = values(item, fmt.Sprintf("%s[%d]", at, i), facts)
		}
	case string:
		if found := lostText.FindString(v); found != "" {
			message := fmt.Sprintf("%s contains %q: %q. Find the value that is missing, and compute the text again.",
				at, strings.TrimSpace(found), display.Cut(v, 100))
			facts = append(facts, sandbox.Finding{Kind: kindLostValue, Message: message})
		}
		for _, number := range longNumber.FindAllStringSubmatch(v, 5) {
			facts = values(json.Number(number[1]), at, facts)
		}
	case json.Number:
		if rounded, ok := noisy(v.String()); ok {
			facts = append(facts, sandbox.Finding{Kind: kindInexact,
				Message: fmt.Sprintf("%s is %s, which has rounding errors of binary fractions. Round it: %s.",
					at, v, rounded)})
		}
	}
	return facts
}

// noisy reports whether a number probably has a rounding error: it has at least 15 digits but, rounded to 13
// digits, at most 11. It returns the rounded number.
func noisy(number string) (rounded string, ok bool) {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return "", false
	}
	digits := func(x float64) int {
		text, _, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
		return len(strings.TrimLeft(strings.ReplaceAll(text, ".", ""), "-"))
	}
	near, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 12, 64), 64)
	return strconv.FormatFloat(near, 'f', -1, 64), digits(x) >= 15 && digits(near) <= 11
}
