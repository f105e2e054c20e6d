package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// attackEnv names the attack that a child of this test makes.
const attackEnv = "WRIT_TEST_ATTACK"

// attacks are programs that would harm a host that runs them itself.
var attacks = map[string]struct {
	source string
	kinds  []sandbox.Kind // how it may end
}{
	"recursion through natives": {`const f = () => [1].map(f); f()`, []sandbox.Kind{sandbox.Thrown, sandbox.Crashed}},
	"cyclic flat":               {`const a = []; a.push(a); a["fla" + "t"](Infinity)`, []sandbox.Kind{sandbox.Crashed, sandbox.MemoryLimit}},
	"yield* recursion":          {`function* g() { yield* g() } [...g()]`, []sandbox.Kind{sandbox.Crashed, sandbox.Thrown, sandbox.MemoryLimit}},
	"one huge string":           {`"x".repeat(2 ** 40)`, []sandbox.Kind{sandbox.MemoryLimit, sandbox.Thrown, sandbox.Crashed}},
	"one huge array":            {`new Array(1e9).fill(1)`, []sandbox.Kind{sandbox.MemoryLimit, sandbox.Timeout}},
	"growth":                    {`const a = []; for (;;) a.push("x".repeat(1e5) + a.length)`, []sandbox.Kind{sandbox.MemoryLimit}},
	"nested arrow defaults": {`(a0 = (a1 = (a2 = (a3 = (a4 = (a5 = (a6 = (a7 = (a8 = (a9 = (b0 = (b1 = (b2 = (b3 = (b4 = (b5 = (b6 = (b7 = (b8 = (b9 = 1
		) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1) => 1`, []sandbox.Kind{sandbox.Syntax}},
	"regex backtracking": {`/^(?=(a+)+$)\1b/.test("a".repeat(40) + "!")`, []sandbox.Kind{sandbox.Timeout}},
	"source map":         {"throw new Error('x')\n//# sourceMappingURL=/etc/passwd", []sandbox.Kind{sandbox.Thrown}},
	"microtask storm":    {`const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})`, []sandbox.Kind{sandbox.Timeout, sandbox.MemoryLimit}},
	"console flood":      {`const s = "x".repeat(1e5); for (;;) console.log(s)`, []sandbox.Kind{sandbox.Timeout, sandbox.MemoryLimit}},
	"native loop":        {`Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`, []sandbox.Kind{sandbox.Timeout}},
	"deep source":        {``, []sandbox.Kind{sandbox.Syntax}}, // made below
}

// TestAttacks makes each attack in a process of its own, which is the host of an
// isolated sandbox: it must survive, and go on running programs.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestAttacked$", "-test.v")
			cmd.Env = append(os.Environ(), attackEnv+"="+name)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			} else {
				t.Logf("%s", output)
			}
		})
	}
}

func TestAttacked(t *testing.T) {
	name := os.Getenv(attackEnv)
	if name == "" {
		t.Skip("TestAttacks runs this")
	}
	attack := attacks[name]
	if name == "deep source" {
		attack.source = nested(30_000)
	}
	limit := 500 * time.Millisecond
	if !slices.Contains(attack.kinds, sandbox.Timeout) {
		limit = time.Minute // what it runs into is not the time
	}
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Time: limit, Memory: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	start := time.Now()
	out, err := box.Run(t.Context(), sandbox.Program{Source: attack.source})
	took := time.Since(start)
	if err != nil || out.Failure == nil || !slices.Contains(attack.kinds, out.Failure.Kind) || took > limit+guard {
		t.Errorf("after %v: %s", took, outcomeOf(out, err))
	} else {
		fmt.Printf("after %v: %s: %s\n", took.Round(time.Millisecond), out.Failure.Kind, out.Failure.Message)
	}
	if got := outcomeOf(box.Run(t.Context(), sandbox.Program{Source: "1 + 1"})); got != "value: 2\n" {
		t.Errorf("the next run gave %s", got)
	}
}
