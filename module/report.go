package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
	"github.com/writ-go/writ/tools/journal"
)

// noProgram is the observation on a reply without a program that can be run. The step is
// free, unless the reply is that of the step before.
func (r *codeRun) noProgram(err error) *observation {
	if n := len(r.Steps); n == 1 || r.Steps[n-2].Reply != r.last().Reply {
		r.forgive()
	}
	return &observation{happened: fmt.Sprintf("Nothing was run: %s.", err)}
}

// report is the observation on a program that did not submit. One that ran to
// its end closes the step: what it did is done.
func (r *codeRun) report(out *sandbox.Outcome) *observation {
	same := r.again()
	if same == "" && isFree(out) {
		r.forgive()
	}
	o := &observation{keep: out.Failure == nil && slices.ContainsFunc(out.Calls, looks)}
	if out.Failure == nil {
		o.happened = "The program ran to its end, but it did not submit an answer."
		r.showValue(o, out)
	} else {
		r.failed(o, out.Failure)
		r.showEffects(o, out)
		showData(o, out.Failure.Tool)
	}
	showConsoles(o, out)
	showWarnings(o, out)
	if out.Failure == nil {
		r.closeStep(o)
	} else {
		r.showReads(o, out)
	}
	if f := out.Failure; f != nil && f.Ran() && r.session {
		o.next += leftNothing
	}
	o.next += r.spent(out) + same
	return o
}

// failed says why a program did not end well.
func (r *codeRun) failed(o *observation, f *sandbox.Failure) {
	switch {
	case !f.Ran():
		o.happened = "The program was refused; nothing has run:" + findingLines(f.Findings)
	case f.Kind == sandbox.KindHeld && f.Hold != nil:
		o.happened = fmt.Sprintf("The program was stopped before the call %s, which was not made: %s.",
			escapeBreaks(f.Hold.Call), escapeBreaks(f.Hold.Message))
		o.keep = true // it says which answers there are
	case f.Kind == sandbox.KindUnawaited:
		o.happened = "The answer was not accepted. " + findingText(f.Finding)
	default:
		o.happened = "The program failed: " + findingText(f.Finding)
	}
}

// isFree reports whether a program does not count as a step: it was refused, stopped
// because of a hold, or did nothing but look for tools.
func isFree(out *sandbox.Outcome) bool {
	if f := out.Failure; f != nil {
		return !f.Ran() || f.Kind == sandbox.KindHeld
	}
	return len(out.Calls) > 0 && !slices.ContainsFunc(out.Calls, func(c sandbox.Call) bool { return !looks(c) })
}

// looks reports whether a call looks for tools.
func looks(c sandbox.Call) bool { return strings.HasPrefix(c.Tool, discovery.Object+".") }

// forgive makes the last step free, if the run has free turns left.
func (r *codeRun) forgive() bool {
	if r.free >= r.options.FreeTurns {
		return false
	}
	r.free++
	return true
}

// showEffects lists what the step has done before a program failed, and in it.
func (r *codeRun) showEffects(o *observation, out *sandbox.Outcome) {
	if f := out.Failure; f != nil && !f.Ran() {
		return // nothing has changed
	}
	open := r.journal.Open()
	if sortEffects(open).none() {
		return
	}
	title := "\n"
	if r.left() > 0 {
		title = "\n\nWrite the whole program again, not only the rest."
	}
	held := out.Failure != nil && out.Failure.Kind == sandbox.KindHeld // the hold has advice of its own
	advise := r.left() > 0 && !held
	o.show(section{title: title, first: true, body: func(most int) string { return openEffects(open, advise, most) }})
}

// showReads lists what a program had read.
func (r *codeRun) showReads(o *observation, out *sandbox.Outcome) {
	if f := out.Failure; f == nil || f.Ran() && f.Kind != sandbox.KindUnawaited { // which says what became of the calls
		showReads(o, out.Calls, r.journal.Entries())
	}
}

// closeStep says what a program that ran to its end has done.
func (r *codeRun) closeStep(o *observation) {
	done := r.journal.Open()
	orphans := r.journal.Accept()
	r.Orphans = append(r.Orphans, orphans...)
	done = slices.DeleteFunc(done, func(e journal.Entry) bool {
		return slices.ContainsFunc(orphans, func(o journal.Entry) bool { return o.ID == e.ID })
	})
	o.show(section{title: "\n", first: true, body: func(most int) string { return listEffects(done, "Done; do not call it again:", most) }})
	showOrphans(o, orphans)
}

// showData shows what a tool said of its error in addition to the message, such as which
// values there are.
func showData(o *observation, te *tools.ToolError) {
	if te == nil || te.Data == nil {
		return
	}
	o.show(section{title: "\n\n", body: func(most int) string {
		return viewOf(te.Data).shown("The error's data", "The error's data is", most)
	}})
}

func (r *codeRun) showValue(o *observation, out *sandbox.Outcome) {
	switch {
	case out.Value != nil:
	case out.Stdout.Bytes+out.Stderr.Bytes == 0:
		o.happened = "The program ran to its end, but it showed nothing. End with an expression, print something, " +
			"or submit the answer."
		if name := unused(r.last().Code, out.Declared); name != "" {
			o.happened += fmt.Sprintf(" %s is never used: if it is the function to run, add await %s() at the end.", name, name)
		}
		return
	default:
		return
	}
	v := viewOf(out.Value)
	s := section{title: " ", gist: "Its value was " + v.String() + ".", more: v.slice()}
	s.body = func(most int) string { return v.shown("Its value", "Its value is", most) }
	if s.lost = len(v.raw) > shortGist; !s.lost {
		s.gist = "Its value was " + escapeBreaks(string(v.raw)) + "."
	}
	o.show(s)
}

// unused returns the last of the names that the program declares and does not mention again.
func unused(code string, declared []string) string {
	for _, name := range slices.Backward(declared) {
		mention := regexp.MustCompile(`(^|[^\w$])` + regexp.QuoteMeta(name) + `($|[^\w$])`)
		if len(mention.FindAllString(code, 2)) == 1 {
			return name
		}
	}
	return ""
}

// notAccepted begins the observation on an answer that does not fit. One of the wrong shape is answered
// with the call that is wanted.
func notAccepted(spec *signature.Spec, answer json.RawMessage, err error) (happened, next string) {
	const most = 2 // findings that are listed next to the call that is wanted
	happened = "The submitted answer was not accepted"
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	misshapen := replies.Misshapen(spec, answer)
	if !misshapen || !ok || len(invalid.Findings) <= most {
		happened += ":\n" + err.Error()
	} else {
		happened += "."
	}
	if misshapen {
		next = "\nSubmit it in this form, with your values: " + replies.Call(spec)
	}
	return happened, next
}

// rejected is the observation on an answer that does not fit. If no step is left and only the shape of the
// answer is wrong, there is one more.
func (r *codeRun) rejected(spec *signature.Spec, out *sandbox.Outcome, err error) *observation {
	if r.left() == 0 && !r.late && replies.Misshapen(spec, out.Value) {
		r.late = true
		r.free++
	}
	o := &observation{}
	var form string
	o.happened, form = notAccepted(spec, out.Value, err)
	if lacksNumber(err) {
		form += "\nNaN and Infinity become null in JSON."
	}
	if lacksField(err) {
		form += "\nA field that is undefined is left out."
	}
	o.show(section{body: func(most int) string { return cut(form, most) }, first: true})
	if !r.session {
		r.showEffects(o, out)
	}
	showConsoles(o, out)
	showWarnings(o, out)
	r.goOn(o, out)
	o.next += r.spent(out) + r.again()
	return o
}

// goOn says from where the model goes on after an answer that was not accepted.
func (r *codeRun) goOn(o *observation, out *sandbox.Outcome) {
	if !r.session {
		r.showReads(o, out)
		return
	}
	r.closeStep(o)
	o.next = "\n\nThe program's variables are kept: go on from there."
}

// lacksNumber reports whether an answer has null in place of a number: programs compute that,
// they do not write it.
func lacksNumber(err error) bool {
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	return ok && slices.ContainsFunc(invalid.Findings, func(f schema.Finding) bool {
		wanted, null := strings.CutSuffix(f.Message, ", not null")
		return null && (strings.Contains(wanted, "number") || strings.Contains(wanted, "integer"))
	})
}

// lacksField reports whether an answer lacks a field, which the program may have given as undefined.
func lacksField(err error) bool {
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	return ok && slices.ContainsFunc(invalid.Findings, func(f schema.Finding) bool { return f.Message == "is required" })
}

// again says that an earlier program was the same and had the same result.
func (r *codeRun) again() string {
	last := r.last()
	for i, s := range r.Steps[:len(r.Steps)-1] {
		if s.Outcome == nil || !sameEnd(s.Outcome, r.outcome) || !sameCode(s.Code, last.Code) {
			continue
		}
		same := fmt.Sprintf("\n\nThis is program %d again, with the same result. ", i+1)
		switch {
		case r.outcome.Failure != nil:
			return same + "Change what failed, or try something else."
		case r.outcome.Submitted:
			return same + "Submit a different answer."
		}
		return same + "Use what it showed, and go on from there."
	}
	return ""
}

// sameCode reports whether two programs differ only in blanks.
func sameCode(a, b string) bool {
	return a == b || slices.Equal(strings.Fields(a), strings.Fields(b))
}

func sameEnd(a, b *sandbox.Outcome) bool {
	if a.Failure != nil && b.Failure != nil {
		return a.Failure.Kind == b.Failure.Kind && a.Failure.Message == b.Failure.Message
	}
	return a.Failure == b.Failure && a.Submitted == b.Submitted &&
		string(a.Value) == string(b.Value) && a.Stdout == b.Stdout
}

// left is how many programs may still be written.
func (r *codeRun) left() int { return r.options.MaxIters - len(r.Steps) + r.free }

// remaining tells the model how often it may try again, when that is not often, and with what.
func (r *codeRun) remaining() string {
	const few = 3
	var list []string
	switch left := r.left(); {
	case left == 0:
		return ""
	case left == 1:
		list = append(list, "One program is left: it must submit the answer.")
	case left <= few:
		list = append(list, fmt.Sprintf("%d programs are left.", left))
	}
	if r.budget != nil {
		if text := r.budget(); text != "" {
			list = append(list, text)
		}
	}
	if list == nil {
		return ""
	}
	return "\n\n" + strings.Join(list, " ")
}

// spent tells the model which limit of programs is, or nearly was, in its way.
func (r *codeRun) spent(out *sandbox.Outcome) string {
	if f := out.Failure; f != nil && f.Kind == sandbox.KindTimeout {
		if out.Waiting > out.Duration/2 {
			return "\n\nIt spent most of that time waiting for tools and timers: run independent calls at the same time, or " +
				"do less in one program."
		}
		return "\n\nIt spent most of that time computing: do less in one program."
	}
	limit, made := limitsOf(r.box).Calls, 0
	for _, c := range out.Calls {
		if !c.Recorded && r.uncounted[c.Tool] == 0 {
			made++
		}
	}
	if limit == 0 || made <= limit/2 {
		return ""
	}
	return fmt.Sprintf("\n\nIt made %d of the %d calls that one program may make.", made, limit)
}

func showConsoles(o *observation, out *sandbox.Outcome) {
	showConsole(o, "console", out.Stdout)
	showConsole(o, "console.error", out.Stderr)
}

func showConsole(o *observation, name string, printed sandbox.Output) {
	if printed.Bytes == 0 {
		return
	}
	part := func(most int) string {
		if !printed.Cut() {
			return cut(strings.TrimRight(printed.Text, "\n"), most)
		}
		return cutOutput(printed.Text, strings.TrimRight(printed.Tail, "\n"), printed.Bytes, most)
	}
	gist := fmt.Sprintf("It printed %s.", plural(printed.Bytes, "byte"))
	if printed.Bytes <= shortGist {
		gist = "It printed: " + escapeBreaks(part(shortGist))
	}
	o.show(section{
		title: "\n\n" + name + ":\n", body: func(most int) string { return fencedIn(most, part) },
		gist: gist, lost: printed.Bytes > shortGist, more: "rows.slice(0, 5)",
	})
}

// showWarnings says what was odd about a program: that may be why it did not do what
// it should.
func showWarnings(o *observation, out *sandbox.Outcome) {
	warnings := slices.Clone(out.Warnings)
	for i := range warnings {
		warnings[i].Frame = ""
	}
	o.showText("\n\nWarnings:", findingLines(warnings))
}

func findingLines(findings []sandbox.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString("\n" + findingText(f))
	}
	return b.String()
}
