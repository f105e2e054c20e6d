package module

import (
	"encoding/json"
	"errors"
	"fmt"
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

// firstLine is an observation in short: its first line, and what that announces.
func firstLine(observation string) string {
	line, rest, _ := strings.Cut(observation, "\n")
	if strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(rest, "\n")
		line += " " + next
	}
	return shorten(line, 200)
}

// noProgram is the observation on a reply without a program that can be run. The step is
// free, unless the reply is that of the step before.
func (r *codeRun) noProgram(err error) string {
	if n := len(r.Steps); n == 1 || r.Steps[n-2].Reply != r.last().Reply {
		r.forgive()
	}
	return fmt.Sprintf("Nothing was run: %s.", clip(err.Error()))
}

// report is the observation on a program that did not submit. One that ran to
// its end closes the step: what it did is done.
func (r *codeRun) report(out *sandbox.Outcome) string {
	var b strings.Builder
	same := r.again()
	if same == "" && isFree(out) {
		r.forgive()
	}
	switch f := out.Failure; {
	case f == nil && r.values && out.Value != nil:
		b.WriteString("The program ran to its end without an answer. " + valueOf(out))
	case f == nil:
		b.WriteString("The program ran to its end. " + valueOf(out))
	case !f.Ran():
		b.WriteString("The program was refused; nothing has run:")
		writeFindings(&b, f.Findings)
	case f.Kind == sandbox.Held:
		b.WriteString("The program was stopped before a call, which was not made: " + findingText(f.Finding))
	case f.Kind == sandbox.Unawaited:
		b.WriteString("The answer was not accepted. " + findingText(f.Finding))
	default:
		b.WriteString("The program failed: " + findingText(f.Finding))
		writeData(&b, f.Tool)
	}
	writeConsoles(&b, out)
	writeWarnings(&b, out)
	if f := out.Failure; f != nil && f.Ran() && r.session {
		b.WriteString(leftNothing)
	}
	if out.Failure != nil {
		r.writeCalls(&b, out)
	} else {
		r.closeStep(&b)
	}
	b.WriteString(same)
	return b.String()
}

// isFree reports whether a program does not count as a step: it was refused, stopped
// because of a hold, or did nothing but look for tools.
func isFree(out *sandbox.Outcome) bool {
	if f := out.Failure; f != nil {
		return !f.Ran() || f.Kind == sandbox.Held
	}
	looks := func(c sandbox.Call) bool { return strings.HasPrefix(c.Tool, discovery.Object+".") }
	return len(out.Calls) > 0 && !slices.ContainsFunc(out.Calls, func(c sandbox.Call) bool { return !looks(c) })
}

// forgive makes the last step free, if the run has free turns left.
func (r *codeRun) forgive() bool {
	if r.free >= r.options.FreeTurns {
		return false
	}
	r.free++
	return true
}

// writeCalls lists what a program had called when it failed, and what the step
// has done before.
func (r *codeRun) writeCalls(b *strings.Builder, out *sandbox.Outcome) {
	if f := out.Failure; f != nil && !f.Ran() {
		return // nothing has changed
	}
	if open := r.journal.Open(); !sortEffects(open).none() {
		if r.left() > 0 {
			b.WriteString("\n\nWrite the whole step again. What its programs have done so far:")
		}
		writeEffects(b, open)
	}
	if f := out.Failure; f == nil || f.Kind != sandbox.Unawaited { // which says what became of the calls
		writeReads(b, out.Calls, r.journal.Entries())
	}
}

// closeStep says what a program that ran to its end has done.
func (r *codeRun) closeStep(b *strings.Builder) {
	done := r.journal.Open()
	orphans := r.journal.Accept()
	r.Orphans = append(r.Orphans, orphans...)
	writeDone(b, slices.DeleteFunc(done, func(e journal.Entry) bool {
		return slices.ContainsFunc(orphans, func(o journal.Entry) bool { return o.ID == e.ID })
	}))
	writeOrphans(b, orphans)
}

// writeData shows what a tool said of its error besides the message, such as which
// values there are.
func writeData(b *strings.Builder, te *tools.ToolError) {
	if te == nil || te.Data == nil {
		return
	}
	const most = 2000
	data := string(te.Data)
	b.WriteString("\n\n" + te.Tool + " said besides: " + escapeBreaks(shorten(data, most)))
	writeLength(b, data, most)
}

func valueOf(out *sandbox.Outcome) string {
	switch {
	case out.Value != nil:
		return "Its value:\n" + clip(string(out.Value))
	case out.Stdout.Bytes+out.Stderr.Bytes == 0:
		return "It gave no value and printed nothing, so there is nothing to see; end with an expression, print, or submit the answer."
	}
	return "It gave no value."
}

// notAccepted begins the observation on an answer that does not fit. One of the wrong shape is answered
// with the call that is wanted.
func notAccepted(spec *signature.Spec, answer json.RawMessage, err error) string {
	const most = 2 // findings that are listed next to the call that is wanted
	text := "The submitted answer was not accepted"
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	misshapen := replies.Misshapen(spec, answer)
	if !misshapen || !ok || len(invalid.Findings) <= most {
		text += ":\n" + clip(err.Error())
	} else {
		text += "."
	}
	if misshapen {
		text = text + "\nSubmit it in this form, with your values: " + replies.Call(spec)
	}
	return text
}

// rejected is the observation on an answer that does not fit. If no step is left and only the shape of the
// answer is wrong, there is one more.
func (r *codeRun) rejected(spec *signature.Spec, out *sandbox.Outcome, err error) string {
	if r.left() == 0 && !r.late && replies.Misshapen(spec, out.Value) {
		r.late = true
		r.free++
	}
	var b strings.Builder
	b.WriteString(notAccepted(spec, out.Value, err))
	if lacksNumber(err) {
		b.WriteString("\nNaN and Infinity have no form in JSON and become null.")
	}
	if lacksField(err) {
		b.WriteString("\nWhat is undefined has no form in JSON and is left out.")
	}
	writeConsoles(&b, out)
	writeWarnings(&b, out)
	if r.session {
		b.WriteString("\n\nThe variables of the program are kept: go on from there.")
		r.closeStep(&b)
	} else {
		r.writeCalls(&b, out)
	}
	b.WriteString(r.again())
	return b.String()
}

// lacksNumber reports whether there is null where a number belongs, which programs do
// not write, but compute.
func lacksNumber(err error) bool {
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	return ok && slices.ContainsFunc(invalid.Findings, func(f schema.Finding) bool {
		wanted, null := strings.CutSuffix(f.Message, ", not null")
		return null && (strings.Contains(wanted, "number") || strings.Contains(wanted, "integer"))
	})
}

// lacksField reports whether there is nothing where something belongs, which programs
// may have written, but as undefined.
func lacksField(err error) bool {
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	return ok && slices.ContainsFunc(invalid.Findings, func(f schema.Finding) bool { return f.Message == "is required" })
}

// again says of a program that an earlier one was the same and came to the same.
func (r *codeRun) again() string {
	last := r.last()
	for i, s := range r.Steps[:len(r.Steps)-1] {
		if s.Outcome == nil || !sameEnd(s.Outcome, r.outcome) || !sameCode(s.Code, last.Code) {
			continue
		}
		same := fmt.Sprintf("\n\nThis was program %d again, and it came to the same. ", i+1)
		switch {
		case r.outcome.Failure != nil:
			return same + "It will not do better next time: change what failed, or go about it in another way."
		case r.outcome.Submitted:
			return same + "It will not do better next time: submit another answer."
		}
		return same + "Take what it showed, and go on from there."
	}
	return ""
}

// sameCode compares programs but for blanks.
func sameCode(a, b string) bool {
	return a == b || slices.Equal(strings.Fields(a), strings.Fields(b))
}

func sameEnd(a, b *sandbox.Outcome) bool {
	if a.Failure != nil && b.Failure != nil {
		return a.Failure.Kind == b.Failure.Kind && a.Failure.Message == b.Failure.Message
	}
	return a.Failure == b.Failure && a.Submitted == b.Submitted && string(a.Value) == string(b.Value) && a.Stdout == b.Stdout
}

// remaining tells the model how often it may try again, and with what.
func (r *codeRun) remaining() string {
	left := r.left()
	if left == 0 {
		return ""
	}
	text := fmt.Sprintf("\n\n%d programs are left.", left)
	if left == 1 {
		text = "\n\nOne program is left: it must submit the answer."
	}
	if r.budget != nil {
		text += " " + r.budget()
	}
	return text
}

// left is how many programs may still be written.
func (r *codeRun) left() int { return r.options.MaxIters - len(r.Steps) + r.free }

func writeConsoles(b *strings.Builder, out *sandbox.Outcome) {
	writeConsole(b, "console", out.Stdout)
	writeConsole(b, "console.error", out.Stderr)
}

func writeConsole(b *strings.Builder, name string, o sandbox.Output) {
	if o.Bytes > 0 {
		b.WriteString("\n\n" + name + ":\n" + fenced(strings.TrimRight(clipEnds(o.Text, o.Tail, o.Bytes), "\n")))
	}
}

// writeWarnings says what was odd about a program: that may be why it did not do what
// it should.
func writeWarnings(b *strings.Builder, out *sandbox.Outcome) {
	if len(out.Warnings) == 0 {
		return
	}
	b.WriteString("\n\nWarnings:")
	warnings := slices.Clone(out.Warnings)
	for i := range warnings {
		warnings[i].Frame = ""
	}
	writeFindings(b, warnings)
}

// writeFindings lists findings, together no more than is shown of a value.
func writeFindings(b *strings.Builder, findings []sandbox.Finding) {
	var list strings.Builder
	for _, f := range findings {
		list.WriteString("\n" + findingText(f))
	}
	b.WriteString(clip(list.String()))
}

// clipBytes is how much of a value or of the console the model is shown.
const clipBytes = 8000

// clip keeps the head and the tail of a long text, and says how long it is.
func clip(text string) string { return clipEnds(text, "", len(text)) }

// clipEnds does so with a text of which only the ends may be there.
func clipEnds(text, tail string, all int) string {
	switch {
	case len(text) == all && all <= clipBytes:
		return text
	case len(text) == all:
		tail = text
	}
	head := strings.ToValidUTF8(text[:min(len(text), clipBytes*3/4)], "")
	tail = strings.ToValidUTF8(tail[max(0, len(tail)-clipBytes/4):], "")
	return fmt.Sprintf("%s\n… %d of %d bytes are left out …\n%s", head, all-len(head)-len(tail), all, tail)
}

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
