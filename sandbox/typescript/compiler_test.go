package typescript_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
	"github.com/writ-go/writ/tools"
)

// TestPrograms runs the programs in testdata/programs.txtar and in testdata/places.txtar. Errors must point at the
// place in the program that was written, not in the one that was compiled.
func TestPrograms(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	for _, file := range []string{"programs", "places"} {
		archive, err := txtar.ParseFile("testdata/" + file + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for both := range slices.Chunk(archive.Files, 2) {
			t.Run(file+"/"+both[0].Name, func(t *testing.T) {
				t.Parallel()
				source := strings.TrimSuffix(string(both[0].Data), "\n")
				want := strings.TrimSuffix(string(both[1].Data), "\n")
				if got := result(t, box, b, source); got != want {
					t.Errorf("%s\ngave %s\nwant %s", source, got, want)
				}
			})
		}
	}
	for source, want := range map[string]string{
		"return f(1,\n": "line 2, column 1: unexpected end of file\n2 | \n  | ^",
		"type A = 1;\r\nconst b: A = 1;\r\n\tzed": "line 3, column 2: zed is not defined\n3 | \tzed\n  | \t^",
	} {
		if got := result(t, box, b, source); got != want {
			t.Errorf("%q\ngave %q\nwant %q", source, got, want)
		}
	}
}

// TestCallsOfTypeScript checks the positions of calls, and that a session continues.
func TestCallsOfTypeScript(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	double := func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * in.N, nil
	}
	set, err := tools.NewSet(t.Context(), tools.Func("double", "Twice a number.", double, nil))
	if err != nil {
		t.Fatal(err)
	}
	session := box.NewSession(nil)
	programs := []string{"interface A { n: number }\nconst a: A = {n: 1};\nlet b: number = await double(a);",
		"const c: number =\n  b + (await double({n: b}));\nc as number"}
	got := ""
	for _, source := range programs {
		out, err := session.Run(t.Context(), sandbox.Program{Source: source, Compiler: b, Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out.Failure)
		}
		got += fmt.Sprintf("%s %d:%d ", out.Value, out.Calls[0].Line, out.Calls[0].Column)
	}
	if want := " 3:23 6 2:14 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	review, err := session.Check(t.Context(), sandbox.Program{Source: "const d: string = double({m: 1});\nd.length",
		Compiler: b, Tools: set})
	if err != nil || len(review.Findings) != 1 || review.Findings[0].Line != 1 || review.Findings[0].Column != 19 {
		t.Errorf("got %v, %v", review, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := typescript.New(&typescript.Options{Workers: -1}); err == nil || !strings.Contains(err.Error(),
		"an option is negative") {
		t.Errorf("got %v", err)
	}
	var none *typescript.Compiler
	if _, err := none.Compile(t.Context(), "1"); err == nil {
		t.Error("a nil compiler compiles")
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	b, err := typescript.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Compile(ctx, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	b.Close()
	if _, err := b.Compile(t.Context(), "1"); !errors.Is(err, typescript.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestIsolated requires the same isolation of the compiler's workers as of the sandbox's.
func TestIsolated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no other system isolates workers")
	}
	b, err := typescript.New(&typescript.Options{FullIsolation: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if c, err := b.Compile(t.Context(), "1 as number"); err != nil || c.Source != "1;\n" {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestHostileSource compiles programs that attack the compiler. Each must soon be compiled
// or get a finding, and the next program must compile.
func TestHostileSource(t *testing.T) {
	t.Parallel()
	b, err := typescript.New(&typescript.Options{Time: 2 * time.Second, Memory: 256 << 20}) // some need more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	repeat := strings.Repeat
	const size = 60_000
	for name, source := range map[string]string{
		"brackets":        repeat("(", size),
		"braces":          repeat("{", size),
		"templates":       repeat("`${", size/3),
		"arrows":          repeat("a=>", size/3) + "1",
		"arrow defaults":  repeat("((a=", 40) + "1" + repeat(")=>1)", 40),
		"conditions":      repeat("a?(b):c=>", size/9) + "1",
		"generic arrows":  repeat("<T>(a=", 60) + "1" + repeat(")=>1", 60),
		"types":           "let a: " + repeat("[", 1900) + repeat("]", 1900),
		"type arguments":  "let a: " + repeat("A<", size/2),
		"conditional":     "type A = " + repeat("A extends infer B extends ", size/30),
		"not":             repeat("!", size) + "1",
		"await":           repeat("await ", size/6) + "1",
		"if":              repeat("if(1)", size/5) + "1",
		"else":            repeat("if(1);else ", size/11) + "1",
		"members":         "a" + repeat(".a", size/2),
		"sum":             "1" + repeat("+1", size/2),
		"assignments":     repeat("a=", size/2) + "1",
		"calls":           "a" + repeat("()", size/2),
		"labels":          repeat("a:", size/2) + "1",
		"enum":            "enum E {" + repeat("A,", size/2) + "}",
		"decorators":      "class A {" + repeat("@a ", size/3) + "x }",
		"pattern":         "/" + repeat("(", size) + "/",
		"namespaces":      "namespace a" + repeat(".a", size/2) + " {}",
		"classes":         repeat("class A extends (class {static x=", size/40),
		"no text at all":  "\x00\xff\xfe",
		"imports":         repeat("import 'a';", size/11),
		"optional chains": "a" + repeat("?.a", size/3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c, err := b.Compile(t.Context(), source)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > ample { // two workers compile all the programs
				t.Errorf("took %v", took)
			}
			for _, f := range c.Findings {
				if f.Message == "" || len(f.Message) > 10_000 {
					t.Errorf("%.200v", f)
				}
			}
			if len(c.Source) > 0 == (len(c.Findings) > 0) {
				t.Errorf("%d bytes and findings %.200v", len(c.Source), c.Findings)
			}
		})
	}
	t.Run("and then", func(t *testing.T) {
		t.Parallel()
		c, err := b.Compile(t.Context(), "1 as number")
		for tries := 1; err == nil && c.Source == "" && tries < 10; tries++ { // on a busy machine
			c, err = b.Compile(t.Context(), "1 as number")
		}
		if err != nil || c.Source != "1;\n" {
			t.Errorf("got %v, %v", c, err)
		}
	})
}
