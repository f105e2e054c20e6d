package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Step is a step in which a program was run or rejected.
type Step struct {
	Code    string
	Outcome *sandbox.Outcome
	Left    int  // how many more programs the model may write
	Session bool // programs see earlier programs' declarations
	Same    int  // the number of an earlier program with the same code and the same result, or 0

	Entries []journal.Entry // every call in the run
	Open    []journal.Entry // the calls, other than reads, of the journal's open step
	Closed  bool            // the journal's step was accepted
	Orphans []journal.Entry // the orphans of the accepted step

	CallLimit int               // how many calls a program may make; 0 if unknown
	Partial   []sandbox.Finding // findings about lists that the program read in part
	Uncounted map[string]int    // the tools whose calls have their own limits
}

// Unread returns the observation of a reply without a program that can be run.
func Unread(err error) *Observation {
	return &Observation{happened: fmt.Sprintf("Nothing was run: %s.", err)}
}

// Report returns the observation of a program that did not submit an answer.
func (s Step) Report() *Observation {
	o := &Observation{}
	f := s.Outcome.Failure
	if f == nil {
		o.happened = "The program finished without submitting an answer."
		o.keep = slices.ContainsFunc(s.Outcome.Calls, Discovers)
		s.addValue(o)
	} else {
		s.fail(o, f)
	}
	s.addDetails(o, s.warnings())
	if f != nil && f.Ran() && s.Session {
		o.next += variablesUnchanged
	}
	o.next += s.limits() + s.repetition()
	return o
}

// Discovers reports whether a call searches for tools or describes them.
func Discovers(c sandbox.Call) bool { return strings.HasPrefix(c.Tool, globals.Tools+".") }

// Rejected returns the observation of an invalid answer.
func (s Step) Rejected(spec *signature.Spec, err error) *Observation {
	o := &Observation{}
	var form string
	o.happened, form = rejectedAnswer(spec, s.Outcome.Value, err)
	o.add(section{text: form, first: true})
	s.addDetails(o, s.warnings())
	if s.Session {
		o.next = variablesKept
	}
	o.next += s.limits() + s.repetition()
	return o
}

// Questioned returns the observation of a valid answer that facts contradict.
func (s Step) Questioned(facts []sandbox.Finding) *Observation {
	o := &Observation{happened: "The answer has the right form, but it may be wrong:" + findings(unframed(facts)) +
		"\nFix the program and submit its answer. If this answer is right, submit it again."}
	s.addDetails(o, nil)
	if s.Session {
		o.next = variablesKept
	}
	return o
}

// Orphaned returns the observation for a valid answer if the program did not repeat all calls that earlier programs
// made. Failed means that an effect failed and that the run has not resolved the failure.
func Orphaned(answer json.RawMessage, orphans []journal.Entry, failed bool) *Observation {
	const limit = 500 // bytes
	submit := "submit(…)"
	if len(answer) <= limit {
		submit = fmt.Sprintf("submit(%s)", answer)
	}
	happened := "The answer is valid."
	if failed {
		happened = "The answer has the right form."
	}
	o := &Observation{happened: happened, keep: true,
		next: "\nIf the answer is right as it is, submit it with a one-line program, without calling tools again:\n" +
			submit}
	o.addOrphans(orphans)
	return o
}

// End adds what every observation ends with: result types, how many programs are left, and what is left of other
// budgets. The entries are the step's calls.
func (o *Observation) End(types string, left int, budgets []string, entries []journal.Entry) {
	o.add(section{title: "\n", text: types, first: true, brief: strings.TrimSpace(types)})
	o.next += Remaining(left, "program", budgets...)
	o.effects = listEffects(entries, "Done:", maxObservation/4)
}

const (
	variablesUnchanged = "\n\nWhat the program declared or changed is gone; earlier variables are unchanged."
	variablesKept      = "\n\nThe program's variables are kept: continue from there."
)

// fail sets the reason why a program failed.
func (s Step) fail(o *Observation, f *sandbox.Failure) {
	switch {
	case !f.Ran():
		o.happened = "The program was refused; nothing has run:" + findings(f.Findings)
	case f.Kind == sandbox.KindHeld && f.Hold != nil:
		o.happened = fmt.Sprintf("The program was stopped before the call %s, which was not made: %s.",
			escaper.Replace(f.Hold.Call), escaper.Replace(f.Hold.Message))
		o.keep = true // the message lists the possible replies
	case f.Kind == sandbox.KindUnawaited:
		o.happened = "The answer was not accepted. " + finding(f.Finding)
	default:
		o.happened = "The program failed: " + finding(f.Finding)
	}
}

// addDetails adds what a program did and printed.
func (s Step) addDetails(o *Observation, warnings []sandbox.Finding) {
	f := s.Outcome.Failure
	ran := f == nil || f.Ran()
	if ran && !s.Closed {
		s.addOpen(o)
	}
	if f != nil && f.Tool != nil && f.Tool.Data != nil {
		o.add(section{title: "\n\n", cut: func(limit int) string {
			return show(f.Tool.Data, "The error's data", " is", limit)
		}})
	}
	o.addConsole("console", s.Outcome.Stdout)
	o.addConsole("console.error", s.Outcome.Stderr)
	o.add(section{title: "\n\nWarnings:", text: findings(unframed(warnings))})
	switch {
	case s.Closed:
		s.addClosed(o)
	case ran && (f == nil || f.Kind != sandbox.KindUnawaited): // that message describes the calls
		s.addReads(o)
	}
}

// warnings returns the warnings of the program and the findings about lists that it read in part. If the program was
// held, the findings are the reason and are left out.
func (s Step) warnings() []sandbox.Finding {
	const maxPartial = 3
	if f := s.Outcome.Failure; f != nil && f.Kind == sandbox.KindHeld {
		return s.Outcome.Warnings
	}
	return slices.Concat(s.Outcome.Warnings, s.Partial[:min(len(s.Partial), maxPartial)])
}

// unframed returns findings without the lines of the source.
func unframed(list []sandbox.Finding) []sandbox.Finding {
	list = slices.Clone(list)
	for i := range list {
		list[i].Frame = ""
	}
	return list
}

// addOpen lists the effects that the next program can repeat or continue.
func (s Step) addOpen(o *Observation) {
	if effectsOf(s.Open).empty() {
		return
	}
	title := "\n"
	if s.Left > 0 {
		title = "\n\nWrite the whole program again, not only the rest."
	}
	held := s.Outcome.Failure != nil && s.Outcome.Failure.Kind == sandbox.KindHeld // the hold's message has advice
	o.add(section{title: title, first: true, cut: func(limit int) string {
		return openEffects(s.Open, s.Left > 0 && !held, limit)
	}})
}

// addClosed lists the effects of a finished step.
func (s Step) addClosed(o *Observation) {
	isOrphan := func(e journal.Entry) bool {
		return slices.ContainsFunc(s.Orphans, func(o journal.Entry) bool { return o.ID == e.ID })
	}
	done := slices.DeleteFunc(slices.Clone(s.Open), isOrphan)
	o.add(section{title: "\n", first: true, cut: func(limit int) string {
		return listEffects(done, "Done; do not repeat:", limit)
	}})
	o.addOrphans(s.Orphans)
}

// addOrphans lists the effects of earlier programs that the last program did not repeat.
func (o *Observation) addOrphans(orphans []journal.Entry) {
	if len(orphans) == 0 {
		return
	}
	const title, undo = "\n\nDone by earlier programs, but not called by this one:",
		"\nIf that was wrong, undo it, or say so in the answer."
	o.add(section{title: title, first: true, cut: func(limit int) string {
		return effects{done: orphans}.list(effectTitles{}, limit-len(undo)) + undo
	}})
}

// addReads lists the reads of a program, which may show why it failed.
func (s Step) addReads(o *Observation) {
	reads := map[string]bool{}
	for _, e := range s.Entries {
		reads[e.Tool] = e.Class == tools.Read
	}
	var read, failed []journal.Entry
	for _, c := range s.Outcome.Calls {
		switch {
		case !reads[c.Tool] || c.Pending:
		case c.Error == nil:
			read = append(read, journal.Entry{Tool: c.Tool, Args: c.Args, Result: c.Result, State: journal.StateOK})
		default:
			failed = append(failed, journal.Entry{Tool: c.Tool, Args: c.Args, Err: c.Error, State: journal.StateFailed})
		}
	}
	o.add(section{title: "\n\nFailed reads:", text: readLines(failed)})
	o.add(section{title: "\n\nReads:", text: readLines(read)})
}

// maxBrief is the maximum size of a value or of console output in a summary, in bytes.
const maxBrief = 100

// addValue shows a program's value, or says that the program showed nothing.
func (s Step) addValue(o *Observation) {
	out := s.Outcome
	switch {
	case out.Value == nil && out.Stdout.Bytes+out.Stderr.Bytes > 0:
	case out.Value == nil:
		o.happened = "The program finished, but it showed nothing. End it with an expression, print something, " +
			"or submit the answer."
		if name := unused(s.Code, out.Declared); name != "" {
			o.happened += fmt.Sprintf(" %s is never used. If it is the function to run, add await %[1]s() at the end.",
				name)
		}
	default:
		v := valueOf(out.Value)
		brief, lost := string(v.raw), len(v.raw) > maxBrief
		if lost {
			brief = v.String()
		}
		o.add(section{
			title: " ", cut: func(limit int) string { return show(out.Value, "Its value", " is", limit) },
			brief: "Its value was " + escaper.Replace(brief) + ".", lost: lost, example: sliceExamples[v.kind],
		})
	}
}

// sliceExamples maps the kind of a value to code that prints part of it.
var sliceExamples = map[string]string{
	"string": "text.slice(4000, 8000)", "array": shortRows, "object": "Object.keys(value)",
}

const shortRows = "rows.map(r => r.name), or a part at a time, such as rows.slice(20, 40)"

// unused returns the last declared name that the program does not mention again.
func unused(code string, declared []string) string {
	for _, name := range slices.Backward(declared) {
		mention := regexp.MustCompile(`(^|[^\w$])` + regexp.QuoteMeta(name) + `($|[^\w$])`)
		if len(mention.FindAllString(code, 2)) == 1 {
			return name
		}
	}
	return ""
}

// addConsole shows what a program printed.
func (o *Observation) addConsole(name string, printed sandbox.Output) {
	if printed.Bytes == 0 {
		return
	}
	part := func(limit int) string {
		if !printed.Cut() {
			return Cut(strings.TrimRight(printed.Text, "\n"), limit)
		}
		return cutOutput(printed.Text, strings.TrimRight(printed.Tail, "\n"), printed.Bytes, limit)
	}
	brief := fmt.Sprintf("It printed %s.", display.Plural(printed.Bytes, "byte"))
	if printed.Bytes <= maxBrief {
		brief = "It printed: " + escaper.Replace(part(maxBrief))
	}
	o.add(section{
		title: "\n\n" + name + ":\n", cut: func(limit int) string { return fencedIn(limit, part) },
		brief: brief, lost: printed.Bytes > maxBrief, example: shortRows,
	})
}

// rejectedAnswer says what is wrong with an answer, and how to submit it if its shape is wrong.
func rejectedAnswer(spec *signature.Spec, answer json.RawMessage, err error) (happened, form string) {
	const limit = 2 // the maximum number of findings next to the form
	happened = "The submitted answer was not accepted"
	invalid, ok := errors.AsType[*signature.InvalidError](err)
	misshapen := replies.Misshapen(spec, answer)
	if !misshapen || !ok || len(invalid.Findings) <= limit {
		happened += ":\n" + err.Error()
	} else {
		happened += "."
	}
	if misshapen {
		form = "\nSubmit it in this form, with your values: " + replies.Call(spec)
	}
	return happened, form
}

// limits gives advice on a limit that the program exceeded or nearly reached.
func (s Step) limits() string {
	out := s.Outcome
	if f := out.Failure; f != nil && f.Kind == sandbox.KindTimeout {
		if out.Waiting > out.Duration/2 {
			return "\n\nIt spent most of that time waiting for tools and timers: make independent calls " +
				"concurrently, or do less in one program."
		}
		return "\n\nIt spent most of that time computing: do less in one program."
	}
	made := 0
	for _, c := range out.Calls {
		if !c.Recorded && s.Uncounted[c.Tool] == 0 {
			made++
		}
	}
	if s.CallLimit == 0 || made <= s.CallLimit/2 {
		return ""
	}
	return fmt.Sprintf("\n\nIt made %d of the %d calls that one program may make.", made, s.CallLimit)
}

// repetition says that an earlier program was the same.
func (s Step) repetition() string {
	if s.Same == 0 {
		return ""
	}
	same := fmt.Sprintf("\n\nThis is program %d again, with the same result. ", s.Same)
	switch {
	case s.Outcome.Failure != nil:
		return same + "Change what failed, or try something else."
	case s.Outcome.Submitted:
		return same + "Submit a different answer."
	}
	return same + "Use what it showed, and continue from there."
}

// ToolCallsLeft says that few tool calls are left, or returns "".
func ToolCallsLeft(n int) string {
	switch {
	case n <= 0:
		return "No tool call is left."
	case n <= few:
		return display.Plural(n, "tool call") + " may still be made."
	}
	return ""
}

// few is the number of steps and of tool calls at which the model learns how many are left.
const few = 3

// Remaining says that few programs or steps are left, and what is left of other budgets.
func Remaining(left int, noun string, budgets ...string) string {
	var list []string
	switch {
	case left <= 0:
		return ""
	case left == 1:
		list = append(list, "One "+noun+" is left: submit, and say in the answer what is missing or uncertain.")
	case left <= few:
		list = append(list, fmt.Sprintf("%d %ss are left.", left, noun))
	}
	for _, budget := range budgets {
		if budget != "" {
			list = append(list, budget)
		}
	}
	if list == nil {
		return ""
	}
	return "\n\n" + strings.Join(list, " ")
}
