package sandbox_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox"
)

// overtime matches the message of a run whose time is over. The program is interrupted, or
// its process is killed, and its console lost, if a built-in function does not react.
// Which of them happens depends on how busy the machine is.
var overtime = regexp.MustCompile(`the program (ran longer than|did not end within) ([^\s,]+)( and was killed)?`)

func normalised(out *sandbox.Outcome, err error) string {
	if out != nil && out.Failure != nil && out.Failure.Kind == sandbox.KindTimeout {
		silent := *out
		silent.Stdout, silent.Stderr = sandbox.Output{}, sandbox.Output{}
		out = &silent
	}
	if out != nil && leavesCalls(out.Failure) { // whether each of them was still made is random
		left := *out
		left.Calls = slices.Clone(out.Calls)
		for i := range left.Calls {
			left.Calls[i].Result, left.Calls[i].Error, left.Calls[i].Pending = json.RawMessage(`"or not made"`), nil, false
		}
		failure := *out.Failure
		failure.Message, _, _ = strings.Cut(failure.Message, "\n- ")
		failure.Message = howMany.ReplaceAllString(failure.Message, "some calls were not")
		left.Failure = &failure
		out = &left
	}
	text := strings.ReplaceAll(outcomeOf(out, err), "\r", "␍") // which archives do not keep
	return overtime.ReplaceAllString(text, "the program ran out of time")
}

// howMany matches a number of calls that depends on timing.
var howMany = regexp.MustCompile(`\d+ calls? (was|were) not`)

// leavesCalls reports whether a program ended with calls in progress.
func leavesCalls(f *sandbox.Failure) bool {
	return f != nil && (f.Kind == sandbox.KindUnawaited || f.Kind == sandbox.KindCallLimit ||
		strings.HasSuffix(f.Message, "Error: ended") ||
		strings.HasSuffix(f.Message, "Error: at once"))
}

// leak matches what exists only inside the host: Go's names, files and addresses.
var leak = regexp.MustCompile(`goja|github\.com|golang|goroutine |runtime[.:]|reflect\.|interface \{\}` +
	`|\bmap\[|\*?big\.Int|\.go\b|0x[0-9a-f]{6}|` +

	`/(tmp|root|home|proc|work)/|exit status|panic|nil pointer|%!|\[\]byte|json: ` +
	`|strconv|unsafe|VmData|rlimit|makeslice|Builder|frame '`)

// attackProblems returns what is wrong with an outcome of any attack.
func attackProblems(out *sandbox.Outcome, text string) []string {
	var list []string
	if found := leak.FindString(text); found != "" {
		list = append(list, fmt.Sprintf("the outcome leaks %q", found))
	}
	if out == nil {
		return append(list, "the outcome is nil")
	}
	for _, s := range []sandbox.Output{out.Stdout, out.Stderr} {
		if !utf8.ValidString(s.Text) || s.Bytes < len(s.Text) {
			list = append(list, "the console output is invalid")
		}
	}
	texts := []json.RawMessage{out.Value}
	for _, c := range out.Calls {
		texts = append(texts, c.Args, c.Result)
	}
	for _, text := range texts {
		if text != nil && (!json.Valid(text) || !utf8.Valid(text)) {
			list = append(list, fmt.Sprintf("invalid JSON: %.100s", text))
		}
	}
	f := out.Failure
	switch {
	case f == nil:
	case out.Value != nil || out.Submitted:
		list = append(list, "the program both failed and returned a value")
	case f.Kind == "crashed" && !strings.HasPrefix(f.Message, "stack overflow: ") &&
		f.Message != "a built-in function of the engine failed": // goja's bugs, which end the program
		list = append(list, "unexpected crash")
	case f.Kind == "" || f.Message == "" || len(f.String()) > 10_000:
		list = append(list, "the failure has no message, or one that is too long")
	}
	return list
}
