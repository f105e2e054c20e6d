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

// overtime is how a run ends whose time is over: by the program's own interrupt,
// or by the end of its process, and with it of the console, if a built-in keeps it
// from hearing that. Which of them it is depends on how busy the machine is.
var overtime = regexp.MustCompile(`the program (ran longer than|did not end within) ([^\s,]+)( and was killed)?`)

func normalised(out *sandbox.Outcome, err error) string {
	if out != nil && out.Failure != nil && out.Failure.Kind == sandbox.KindTimeout {
		silent := *out
		silent.Stdout, silent.Stderr = sandbox.Output{}, sandbox.Output{}
		out = &silent
	}
	if out != nil && leavesCalls(out.Failure) { // whether each of them was still made is chance
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

// howMany calls are left behind is chance, too.
var howMany = regexp.MustCompile(`\d+ calls? (was|were) not`)

// leavesCalls reports whether a program ended so with calls under way.
func leavesCalls(f *sandbox.Failure) bool {
	return f != nil && (f.Kind == sandbox.KindUnawaited || f.Kind == sandbox.KindCallLimit ||
		strings.HasSuffix(f.Message, "Error: ended") ||
		strings.HasSuffix(f.Message, "Error: at once"))
}

// leak matches what only the host's inside has: Go's names, files and addresses.
var leak = regexp.MustCompile(`goja|github\.com|golang|goroutine |runtime[.:]|reflect\.|interface \{\}` +
	`|\bmap\[|\*?big\.Int|\.go\b|0x[0-9a-f]{6}|` +

	`/(tmp|root|home|proc|work)/|exit status|panic|nil pointer|%!|\[\]byte|json: ` +
	`|strconv|unsafe|VmData|rlimit|makeslice|Builder|frame '`)

// attackProblems looks for what no outcome may have.
func attackProblems(out *sandbox.Outcome, text string) []string {
	var list []string
	if found := leak.FindString(text); found != "" {
		list = append(list, fmt.Sprintf("it lets %q out", found))
	}
	if out == nil {
		return append(list, "there is no outcome")
	}
	for _, s := range []sandbox.Output{out.Stdout, out.Stderr} {
		if !utf8.ValidString(s.Text) || s.Bytes < len(s.Text) {
			list = append(list, "the console's text is not text")
		}
	}
	texts := []json.RawMessage{out.Value}
	for _, c := range out.Calls {
		texts = append(texts, c.Args, c.Result)
	}
	for _, text := range texts {
		if text != nil && (!json.Valid(text) || !utf8.Valid(text)) {
			list = append(list, fmt.Sprintf("this is not JSON: %.100s", text))
		}
	}
	f := out.Failure
	switch {
	case f == nil:
	case out.Value != nil || out.Submitted:
		list = append(list, "it both failed and gave a value")
	case f.Kind == sandbox.KindCrashed && !strings.HasPrefix(f.Message, "stack overflow: ") &&
		f.Message != "a built-in function of the engine failed": // goja's bugs, which end the program
		list = append(list, "it crashed of something that it is not told")
	case f.Kind == "" || f.Message == "" || len(f.String()) > 10_000:
		list = append(list, "the failure says nothing, or too much")
	}
	return list
}
