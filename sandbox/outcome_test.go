package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// If console output is cut, its beginning and its end are kept.
func TestConsoleTail(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Output: 160}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: `
			for (let i = 0; i < 1000; i++) console.log(i);
			console.error("x".repeat(159));
			0`})
		if err != nil {
			t.Fatal(err)
		}
		if o := out.Stdout; o.Bytes != 3890 || len(o.Text) != 160 || !strings.HasPrefix(o.Text, "0\n1\n2\n") ||
			o.Tail != "7\n998\n999\n" || !o.Cut() {
			t.Errorf("stdout is %+v", o)
		}
		if o := out.Stderr; o != (sandbox.Output{Text: strings.Repeat("x", 159) + "\n", Bytes: 160}) {
			t.Errorf("stderr is %+v", o)
		}
	})
}

// A program that failed does not control the terminal on which its failure is shown.
func TestFailureIsDisplayable(t *testing.T) {
	t.Parallel()
	one := sandbox.Finding{Message: "\x1b[2J", Line: 1, Column: 2, Frame: "1 | \u202e\n  | ^"}
	for f, want := range map[*sandbox.Failure]string{
		{Finding: one}: "line 1, column 2: \\u001b[2J\n1 | \\u202e\n  | ^",
		{Finding: sandbox.Finding{Message: "two"}, Findings: []sandbox.Finding{one, {Message: "\u009b"}}}: "two\n" +
			"line 1, column 2: \\u001b[2J\n1 | \\u202e\n  | ^\n\\u009b",
	} {
		if f.Error() != want {
			t.Errorf("got %q, want %q", f.Error(), want)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var list []int
	if err := (&sandbox.Outcome{Value: json.RawMessage(`[1,2]`)}).Decode(&list); err != nil ||
		!slices.Equal(list, []int{1, 2}) {
		t.Errorf("got %v, %v", list, err)
	}
	var exact any
	if err := (&sandbox.Outcome{Value: json.RawMessage(`9007199254740993`)}).Decode(&exact); err != nil ||
		fmt.Sprint(exact) != "9007199254740993" {
		t.Errorf("got %v, %v", exact, err)
	}
	failure := &sandbox.Failure{Finding: sandbox.Finding{Kind: sandbox.KindThrown, Message: "Error: x"}}
	for _, test := range []struct {
		out  sandbox.Outcome
		want string
	}{
		{sandbox.Outcome{}, "sandbox: the program returned no value; return a value, or end with an expression"},
		{sandbox.Outcome{Value: json.RawMessage(`"x"`)},
			"sandbox: the program's value: json: cannot unmarshal string into Go value of type []int"},
		{sandbox.Outcome{Failure: failure, Value: json.RawMessage(`[]`)}, "Error: x"},
	} {
		if err := test.out.Decode(&list); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	var got *sandbox.Failure
	if err := (&sandbox.Outcome{Failure: failure}).Decode(&list); !errors.As(err, &got) || got != failure {
		t.Errorf("got %v, want the failure itself", err)
	}
}
