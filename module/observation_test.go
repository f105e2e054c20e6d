package module_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// observations returns those of a run of programs. The last one must answer.
func observations(t *testing.T, limits sandbox.Limits, set *tools.Set, programs ...string) []string {
	t.Helper()
	box := openBox(t, sandbox.NewInProcess, &sandbox.Options{Limits: limits})
	replies := fences(programs)
	pred := mustRun(t, module.NewCodeAct(adding, llmtest.New(append(replies, submit1)...), box, set, nil), anything)
	var list []string
	for _, s := range pred.Trajectory.Steps[:len(programs)] {
		list = append(list, s.Observation)
	}
	return list
}

// A program that comes near a limit, or is stopped by it, is told about the limit.
func TestLimitsInObservations(t *testing.T) {
	t.Parallel()
	read := tools.Func("read", "", func(context.Context, orders) (int, error) { return 1, nil },
		&tools.Hints{Class: tools.Read})
	limits := sandbox.Limits{Calls: 10, Time: 10 * time.Minute, Compute: 10 * time.Minute}
	const loop = "let n = 0; for (let i = 0; i < %d; i++) n += await read({limit: 1}); n"
	for calls, want := range map[int]string{
		5: "The program finished without submitting an answer. Its value:\n5",
		6: "The program finished without submitting an answer. Its value:\n6\n\nIt made 6 of the 10 calls that one " +
			"program may make.",
	} {
		if got := observations(t, limits, toolSet(t, read), fmt.Sprintf(loop, calls))[0]; got != want {
			t.Errorf("%d calls: got\n%s\nwant\n%s", calls, got, want)
		}
	}
	limits.Time = time.Second
	want := "The program failed: the program ran longer than 1s\n\n" +
		"It spent most of that time waiting for tools and timers: make independent calls concurrently, or do less in " +
		"one program."
	if got := observations(t, limits, nil, "await sleep(1e6)")[0]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// However much a program has read and printed, the model sees why it failed and all its effects.
func TestEffectsComeFirst(t *testing.T) {
	t.Parallel()
	class := func(c tools.Class) *tools.Hints { return &tools.Hints{Class: c} }
	set := toolSet(t,
		tools.Func("read", "", func(_ context.Context, o orders) (string, error) { return strings.Repeat("r", 500), nil },
			class(tools.Read)),
		tools.Func("send", "", func(_ context.Context, o orders) (int, error) { return o.Limit, nil }, class(tools.Effect)),
		tools.Func("pay", "", func(_ context.Context, o orders) (int, error) { return 0, fmt.Errorf("no money") },
			class(tools.Effect)))
	got := observations(t, sandbox.Limits{}, set, `
for (let i = 1; i <= 40; i++) console.log(await read({limit: i}));
for (let i = 1; i <= 79; i++) await send({limit: i});
await pay({limit: 1}).catch(() => 0);
null.x`)[0]
	if len(got) > 4096 {
		t.Errorf("the observation has %d bytes", len(got))
	}
	want := `The program failed: line 5, column 6: TypeError: Cannot read properties of undefined or null (reading 'x')
5 | null.x
  |      ^

Write the whole program again, not only the rest.
Reported an error, but may have taken effect. Check first:
- E120 pay({"limit":1}) → no money
Done so far:
- send ×79 (E41–E119), from {"limit":1} to {"limit":79}
A done call that is repeated with the same arguments does nothing and returns the recorded result. In case of doubt, the program is stopped there and you are asked.
Leave out what took effect, and pass {distinct: "E120", again: "E120"} as the second argument of every call of pay, with only those under again that did not take effect.

console:
` + "```\n" + strings.Repeat(strings.Repeat("r", 500)+"\n", 3)
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant first\n%s", got, want)
	}
}
