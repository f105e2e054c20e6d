package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// compiler is a function that implements [sandbox.Compiler].
type compiler func(ctx context.Context, source string) (*sandbox.Compiled, error)

// Compile implements [sandbox.Compiler].
func (c compiler) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	return c(ctx, source)
}

// shouted compiles a language in capital letters. It adds a line before the program and
// moves the other lines three columns to the right.
func shouted(library string) compiler {
	return func(_ context.Context, source string) (*sandbox.Compiled, error) {
		lines := strings.Split(strings.ToLower(source), "\n")
		for i, line := range lines {
			lines[i] = "   " + line
		}
		return &sandbox.Compiled{
			Source: "const helper = 1;\n" + strings.Join(lines, "\n"), Library: library,
			Map: fmt.Appendf(nil, `{"version":3,"mappings":%q}`, columns(source)),
		}, nil
	}
}

// columns returns the mappings of lines that are moved one line down and three columns to
// the right.
func columns(source string) string {
	var b strings.Builder
	back := 0
	for i, line := range strings.Split(source, "\n") {
		b.WriteString(";GA" + digit(min(i, 1)) + digit(-back))
		for range len(line) {
			b.WriteString(",CAAC")
		}
		back = len(line)
	}
	return b.String()
}

// digit encodes a number as source maps do.
func digit(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	v := n << 1
	if n < 0 {
		v = -n<<1 | 1
	}
	if v < 32 {
		return digits[v : v+1]
	}
	return digits[v&31|32:v&31|32+1] + digits[v>>5:v>>5+1]
}

func TestCompiler(t *testing.T) {
	t.Parallel()
	pay := &tools.Tool{Name: "pay", Handler: answers(`7`),
		InputSchema: []byte(`{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}`)}
	set := newSet(t, pay)
	const library = `const hidden = 5; return {five: hidden, twice: f => f() + f(), boom() { null.x },
		make: kind => Object.getPrototypeOf([function () {}, async () => {}, function* () {}][kind]).constructor("return 1")}`
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for name, test := range map[string]struct{ source, want string }{
			"value":      {"LET A = 1\nA + HELPER", "value: 2"},
			"library":    {"__WRIT_LIBRARY__.FIVE", "value: 5"},
			"its names":  {"TYPEOF HIDDEN", `value: "undefined"`},
			"undeclared": {"LET A = 1\nA + ZED", "line 2, column 5: zed is not defined\n2 | A + ZED\n  |     ^"},
			"tool":       {"\n LET A = AWAIT PAY({M: 2})", "line 2, column 16: pay: n is required"},
			"syntax":     {"LET A = 1\nA + * 2", "line 2, column 5: unexpected * in expression\n2 | A + * 2\n  |     ^"},
			"thrown": {"LET A = NULL\nA.B",
				"line 2, column 3: TypeError: Cannot read properties of undefined or null (reading 'b')\n2 | A.B\n  |   ^"},
			"in library": {"\n\n __WRIT_LIBRARY__.BOOM()",
				"line 3, column 19: TypeError: Cannot read properties of undefined or null (reading 'x')"},
			"by callback": {"__WRIT_LIBRARY__.TWICE(() =>\n { THROW 'NO' })",
				"line 2, column 4: uncaught no\n2 |  { THROW 'NO' })\n  |    ^\ncalled in line 1: __WRIT_LIBRARY__.TWICE(() =>\nstack: line 2, column 4; line 1, column 18"},
			"text": {"[0, 1, 2].MAP(K => { TRY { RETURN TYPEOF __WRIT_LIBRARY__.MAKE(K) } CATCH (E) { RETURN E.MESSAGE } })",
				`value: ["code cannot be created from strings","code cannot be created from strings","code cannot be ` +
					`created from strings"]`},
			"own name": {"HELPER = 2", "line 1, column 1: helper cannot be assigned to: it is declared by const"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Compiler: shouted(library), Tools: set})
				if got := outcomeOf(out, err); !strings.Contains(got, test.want) {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			})
		}
	})
}

func TestCompiledCalls(t *testing.T) {
	t.Parallel()
	set := newSet(t, &tools.Tool{Name: "pay", Handler: answers(`7`)})
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: "LET A = AWAIT PAY({})\n PAY({})", Compiler: shouted(""),
			Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out)
		}
		got := ""
		for _, c := range out.Calls {
			got += fmt.Sprintf("%d:%d ", c.Line, c.Column)
		}
		for _, w := range out.Warnings {
			got += w.String()
		}
		if want := "1:15 2:2 "; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Warnings of a run have positions in the text that was compiled.
func TestCompiledWarnings(t *testing.T) {
	t.Parallel()
	set := newSet(t, &tools.Tool{Name: "pay", Handler: answers(`"{}"`)})
	const source = "LET A = PAY({})\nCONSOLE.LOG([A])\nLET C = [PAY({})]\nLET B = AWAIT PAY({})\nB.SUM"
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: source, Compiler: shouted(""), Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out)
		}
		const want = `not_awaited: line 2, column 9: the promise A is printed, not its result (on line 1, write await pay(…))
2 | CONSOLE.LOG([A])
  |         ^
not_awaited: line 3, column 10: nothing awaits pay(…): the call was made, but its result was not used (write await before it)
3 | LET C = [PAY({})]
  |          ^
wrong_type: line 5, column 3: pay() returns a string, which has no sum (use JSON.parse on the result)
5 | B.SUM
  |   ^`
		if got := listOf(out.Warnings); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// A program ends while its library loads with a call in progress. The call is either made
// and waited for, or not made at all.
func TestLibraryCalls(t *testing.T) {
	t.Parallel()
	set := newSet(t, &tools.Tool{Name: "pay", Handler: answers(`7`)})
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		library := shouted(`pay({}); throw new Error("no")`)
		out, err := box.Run(t.Context(), sandbox.Program{Source: "1", Compiler: library, Tools: set, Submit: true})
		if err != nil || len(out.Calls) != 1 {
			t.Fatal(err, out)
		}
		if got, want := out.Failure.Error(), "while its imports were loaded: Error: no"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		c := out.Calls[0]
		if done := string(c.Result) == "7"; c.Pending || done == (c.Error != nil) {
			t.Errorf("the call was %+v", c)
		}
	})
}

// Findings of a compiler are shown together with violations of the rules.
func TestCompilerRefuses(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(&sandbox.Options{
		Limits: sandbox.Limits{Source: 100},
		Rules:  &sandbox.Rules{Patterns: []*regexp.Regexp{regexp.MustCompile("SECRET")}, Names: []string{"secret", "helper"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	refuses := func(f ...sandbox.Finding) compiler {
		return func(context.Context, string) (*sandbox.Compiled, error) { return &sandbox.Compiled{Findings: f}, nil }
	}
	gives := func(c sandbox.Compiled) compiler {
		return func(context.Context, string) (*sandbox.Compiled, error) { return &c, nil }
	}
	for name, test := range map[string]struct {
		compiler compiler
		source   string
		want     string
	}{
		"findings": {
			refuses(sandbox.Finding{Message: "two", Line: 2, Column: 3},
				sandbox.Finding{Kind: "odd", Message: "one", Hint: "don't", Line: 1, Column: 1}),
			"A SECRET\nB C", `the program was refused for 3 reasons; nothing has run
line 1, column 1: one (don't)
1 | A SECRET
  | ^
line 1, column 3: "SECRET" is not allowed here (do without it)
1 | A SECRET
  |   ^
line 2, column 3: two
2 | B C
  |   ^`,
		},
		"names of the author": {shouted(""), "LET X = {Secret: 1}\nX.secret",
			"the program was refused for 2 reasons; nothing has run\n" +
				"line 1, column 10: secret is not allowed here (do without it)\n1 | LET X = {Secret: 1}\n  |          ^\n" +
				"line 2, column 3: secret is not allowed here (do without it)\n2 | X.secret\n  |   ^"},
		"names of the compiler": {shouted(""), "1", "<nil>"},
		"too long": {gives(sandbox.Compiled{Source: strings.Repeat(" ", 100_000)}), "1",
			"the compiled program has 100000 bytes; 65936 are allowed (write a shorter program, and import less)"},
		"a long library": {gives(sandbox.Compiled{Library: strings.Repeat(" ", 5<<20)}), "1",
			"the imports of the program have 5242880 bytes; 4194304 are allowed (write a shorter program, and import less)"},
		"a broken library": {gives(sandbox.Compiled{Source: "1", Library: "return {"}), "1",
			"the library of the program cannot be loaded: expected } instead of EOF in object literal (do without what " +
				"it imports)"},
		"a library that breaks out": {gives(sandbox.Compiled{Source: "1", Library: "})();(()=>{"}), "1",
			"the library of the program cannot be loaded: unexpected } in expression (do without what it imports)"},
		"a library that throws": {gives(sandbox.Compiled{Source: "1", Library: "throw new Error('no')"}), "1",
			"while its imports were loaded: Error: no"},
		"a library that hangs the parser": {gives(sandbox.Compiled{Source: "1", Library: strings.Repeat("((a=", 12) + "1" +
			strings.Repeat(")=>1)", 12)}), "1",
			"the library of the program cannot be loaded: more than 8 arrow functions nested in parameter defaults (do " +
				"without what it imports)"},
		"a library that matches nothing": {gives(sandbox.Compiled{Source: "1", Library: `return /\p{L}/u`}), "1",
			"the library of the program cannot be loaded: it has a pattern with \\p{…}, which never matches in this " +
				"engine (do without what it imports)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Compiler: test.compiler})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(out.Failure); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCompilerErrors(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for name, test := range map[string]struct {
		compiler compiler
		want     string
	}{
		"an error": {func(context.Context, string) (*sandbox.Compiled, error) { return nil, errors.New("no disk") },
			"sandbox: compile the program: no disk"},
		"nothing": {func(context.Context, string) (*sandbox.Compiled, error) { return nil, nil },
			"sandbox: the compiler returned neither a program nor an error"},
		"an invalid map": {
			func(context.Context, string) (*sandbox.Compiled, error) {
				return &sandbox.Compiled{Source: "1", Map: []byte("{}")}, nil
			},
			"sandbox: the compiler's result: source map: version 0 is not supported, only version 3",
		},
		"an empty map": {
			func(context.Context, string) (*sandbox.Compiled, error) {
				return &sandbox.Compiled{Source: "1", Map: []byte(`{"version":3,"mappings":"` + strings.Repeat(";", 1<<20) +
					`"}`)}, nil
			},
			"sandbox: the source map of the compiler has 1048603 bytes; 65544 are allowed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := box.Run(t.Context(), sandbox.Program{Source: "1", Compiler: test.compiler})
			if out != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %v, %v, want %s", out, err, test.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		out, err := box.Run(ctx, sandbox.Program{Source: "1",
			Compiler: compiler(func(ctx context.Context, _ string) (*sandbox.Compiled, error) {
				cancel()
				return nil, ctx.Err()
			})})
		if out != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

// Programs of a session share a library, even if the VM is gone or the worker no longer has the
// compiled library.
func TestCompiledSession(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		const library = "let n = 0; return {next: () => ++n}"
		for i, s := range []step{
			{"LET A = __WRIT_LIBRARY__.NEXT()", ""},
			{"LET B = __WRIT_LIBRARY__.NEXT(); [A, B]", "value: [1,2]"},
			{"__WRIT_LIBRARY__.NEXT()", "value: 3"},
		} {
			for other := range 9 { // each takes the place of a VM and of a library
				text := fmt.Sprintf("return %d", other)
				out, err := box.NewSession(nil).Run(t.Context(),
					sandbox.Program{Source: "__WRIT_LIBRARY__", Compiler: shouted(text)})
				if got, want := outcomeOf(out, err), fmt.Sprintf("value: %d", other); !strings.Contains(got, want) {
					t.Errorf("program %d: got %s, want %s", i, got, want)
				}
			}
			out, err := session.Run(t.Context(), sandbox.Program{Source: s.source, Compiler: shouted(library)})
			if got := outcomeOf(out, err); !strings.Contains(got, s.want) {
				t.Errorf("%s: got %s, want %s", s.source, got, s.want)
			}
		}
		out, err := session.Run(t.Context(), sandbox.Program{Source: "typeof __writ_library__ + a"})
		if got := outcomeOf(out, err); !strings.Contains(got, `value: "undefined1"`) {
			t.Errorf("without a library: %s", got)
		}
	})
}
