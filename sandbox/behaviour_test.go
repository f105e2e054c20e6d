package sandbox_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/sandbox"
)

var update = flag.Bool("update", false, "write the outcomes of testdata/behaviour and testdata/attacks anew")

// TestBehaviour runs the archives in testdata/behaviour in process and isolated. Each
// contains program.js, optionally inputs.json and options, and the complete outcome, which
// is the same in both modes.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	boxes := openTiers(t, sandbox.Limits{})
	for _, a := range archivesIn(t, "testdata/behaviour") {
		t.Run(a.name(), func(t *testing.T) {
			t.Parallel()
			testArchive(t, a, boxes)
		})
	}
}

func testArchive(t *testing.T, a *archive, boxes map[string]*sandbox.Sandbox) {
	p, o := a.program(t)
	if o.limits != (sandbox.Limits{}) {
		boxes = openTiers(t, o.limits)
	}
	want := a.section("outcome")
	for _, tier := range []string{"inprocess", "isolated"} {
		if tier == "isolated" && !sampled(a.file, 4) || !sampled(a.file, 1) {
			continue
		}
		p.Tools = testTools(t)
		got := warnedOutcome(boxes[tier].Run(t.Context(), p))
		for tries := 1; strings.Contains(got, "and was killed") && tries < 10; tries++ { // and its console with it
			got = warnedOutcome(boxes[tier].Run(t.Context(), p))
		}
		got = interrupted(got)
		if *update && tier == "inprocess" {
			writeOutcome(t, a, got)
			want = got
		}
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tier, got, want)
		}
	}
}

// interrupted replaces the message of a killed program by that of an interrupted one. On a
// busy machine a program may be killed before it notices the interrupt.
func interrupted(text string) string {
	return overtime.ReplaceAllString(text, "the program ran longer than $2")
}

func writeOutcome(t *testing.T, a *archive, text string) {
	for i, f := range a.Files {
		if f.Name == "outcome" {
			a.Files = append(a.Files[:i], a.Files[i+1:]...)
			break
		}
	}
	a.Files = append(a.Files, txtar.File{Name: "outcome", Data: []byte(text)})
	a.write(t)
}

// ample is more time than any program of a test needs, also on a busy machine.
const ample = 4 * time.Minute

// openTiers opens an isolated sandbox and one in process.
func openTiers(t testing.TB, limits sandbox.Limits) map[string]*sandbox.Sandbox {
	t.Helper()
	limits.Time, limits.Compute = cmp.Or(limits.Time, ample), cmp.Or(limits.Compute, ample)
	boxes := map[string]*sandbox.Sandbox{}
	for name, open := range map[string]func(*sandbox.Options) (*sandbox.Sandbox, error){
		"inprocess": sandbox.NewInProcess, "isolated": sandbox.New,
	} {
		box, err := open(&sandbox.Options{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
		boxes[name] = box
	}
	return boxes
}

type options struct {
	submit  bool
	timeout time.Duration
	limits  sandbox.Limits
}

func readOptions(t *testing.T, text string) options {
	t.Helper()
	o, err := parseOptions(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// parseOptions reads lines such as "submit", "timeout 100ms", "calls 3".
func parseOptions(text string) (o options, err error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "submit":
			o.submit = true
		case "timeout":
			o.timeout, err = time.ParseDuration(value)
		case "compute":
			o.limits.Compute, err = time.ParseDuration(value)
		case "source":
			o.limits.Source, err = strconv.Atoi(value)
		case "output":
			o.limits.Output, err = strconv.Atoi(value)
		case "calls":
			o.limits.Calls, err = strconv.Atoi(value)
		case "concurrency":
			o.limits.Concurrency, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("unknown option %q", name)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// warnedOutcome writes an outcome with its warnings.
func warnedOutcome(out *sandbox.Outcome, err error) string {
	text := outcomeOf(out, err)
	if out == nil || len(out.Warnings) == 0 {
		return text
	}
	return text + "warnings:\n" + listOf(out.Warnings) + "\n"
}

// outcomeOf writes the parts of an outcome that are the same in every run.
func outcomeOf(out *sandbox.Outcome, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if out == nil {
		return b.String()
	}
	switch {
	case out.Submitted:
		fmt.Fprintf(&b, "submitted: %s\n", short(out.Value))
	case out.Value != nil:
		fmt.Fprintf(&b, "value: %s\n", short(out.Value))
	case out.Failure == nil:
		b.WriteString("value: undefined\n")
	}
	writeStream(&b, "stdout", out.Stdout)
	writeStream(&b, "stderr", out.Stderr)
	for _, c := range out.Calls {
		writeCall(&b, c)
	}
	if f := out.Failure; f != nil {
		fmt.Fprintf(&b, "failure: %s", f.Kind)
		if !f.Ran() {
			b.WriteString(", nothing has run")
		}
		fmt.Fprintf(&b, "\n%s\n", f)
		if len(f.Stack) > 1 {
			fmt.Fprintf(&b, "stack: %s\n", strings.Join(f.Stack, "; "))
		}
	}
	return b.String()
}

func writeStream(b *strings.Builder, name string, o sandbox.Output) {
	if o.Bytes == 0 {
		return
	}
	fmt.Fprintf(b, "%s:", name)
	if o.Cut() {
		fmt.Fprintf(b, " (%d of %d bytes)", len(o.Text), o.Bytes)
	}
	lines := strings.Split(strings.TrimSuffix(o.Text, "\n"), "\n")
	for len(lines) > 0 {
		same := 1
		for same < len(lines) && lines[same] == lines[0] {
			same++
		}
		fmt.Fprintf(b, "\n  %s", lines[0])
		if same > manyLines {
			fmt.Fprintf(b, "\n  (%d such lines)", same)
		} else {
			b.WriteString(strings.Repeat("\n  "+lines[0], same-1))
		}
		lines = lines[same:]
	}
	b.WriteString("\n")
}

// manyLines is the number of equal lines in a row that are written out.
const manyLines = 20

func writeCall(b *strings.Builder, c sandbox.Call) {
	fmt.Fprintf(b, "call %d at %d:%d: %s(%s)", c.ID, c.Line, c.Column, c.Tool, short(c.Args))
	switch {
	case c.Pending:
		b.WriteString(" is pending")
	case c.Error != nil:
		fmt.Fprintf(b, " threw %s of %s: %s", c.Error.Kind, c.Error.Tool, c.Error.Message)
		if c.Error.Data != nil {
			fmt.Fprintf(b, " %s", short(c.Error.Data))
		}
	case c.Result == nil:
		b.WriteString(" → undefined")
	default:
		fmt.Fprintf(b, " → %s", short(c.Result))
	}
	if c.Recorded {
		b.WriteString(", recorded")
	}
	b.WriteString("\n")
}

// short abbreviates long JSON.
func short(text json.RawMessage) string {
	if len(text) <= 1000 {
		return string(text)
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:100], len(text))
}
