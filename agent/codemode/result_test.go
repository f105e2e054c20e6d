package codemode

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox"
)

// TestOutput has programs that write more to the console than a client gets: the
// beginning and the end are there, and how much there was.
func TestOutput(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	e := executeCode(t, session,
		map[string]any{"code": `console.log("first"); for (let i = 0; i < 3000; i++) console.log("é".repeat(50)); ` +
			`console.log("last"); console.error("short")`})
	if e.StdoutBytes != 6+3000*101+5 || !e.StdoutTruncated || len(e.Stdout) > 64<<10 ||
		!strings.HasPrefix(e.Stdout, "first\n") || !strings.HasSuffix(e.Stdout, "last\n") || !utf8.ValidString(e.Stdout) {
		t.Errorf("got %d bytes of %d: %.20q … %q", len(e.Stdout), e.StdoutBytes, e.Stdout, e.Stdout[len(e.Stdout)-20:])
	}
	if !strings.Contains(e.Stdout, " bytes omitted …\n") {
		t.Error("it does not say that something is left out")
	}
	if e.Stderr != "short\n" || e.StderrBytes != 6 || e.StderrTruncated {
		t.Errorf("got %+v", e)
	}
}

func FuzzShown(f *testing.F) {
	f.Add("abc", 70000, 4000)
	f.Add("é", 65535, 0)
	f.Fuzz(func(t *testing.T, text string, n, tail int) {
		if n < 0 || n > 1<<17 || tail < 0 || tail > n || len(text) == 0 || !utf8.ValidString(text) {
			return
		}
		all := strings.Repeat(text, n/len(text)+1)
		o := sandbox.Output{Text: strings.ToValidUTF8(all[:min(len(all), maxOutput)], ""), Bytes: len(all)}
		if len(all) > maxOutput {
			o.Tail = strings.ToValidUTF8(all[len(all)-min(tail, len(all)-maxOutput):], "")
		}
		got := shown(o)
		if len(got) > maxOutput || !utf8.ValidString(got) || !o.Cut() && got != o.Text {
			t.Errorf("%d bytes of %d, cut: %t", len(got), len(all), o.Cut())
		}
	})
}

// TestCrash has programs that end with their worker: what they had called is told.
func TestCrash(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}, memory: 64})
	e := executeCode(t, session, map[string]any{"code": `
		await fs.write_file({path: "c.txt", content: "1"});
		const all = []; for (;;) all.push(new Array(1e6).fill(all.length))`})
	if e.ErrorType != "MEMORY_LIMIT" && e.ErrorType != "CRASHED" || len(e.Calls) != 1 || !e.Calls[0].OK ||
		e.Calls[0].Args != `{"path":"c.txt","content":"1"}` {
		t.Errorf("got %+v", e)
	}
	wantResult(t, session, "6 * 7", "42")
}

// TestServerLost kills a server in the middle of a call.
func TestServerLost(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}})
	e := executeCode(t, session,
		map[string]any{"code": `await fs.write_file({path: "c.txt", content: "1"}); await fs.die({})`})
	if e.Success || e.ErrorType != "TOOL_ERROR" || len(e.Calls) != 2 || !e.Calls[0].OK || e.Calls[1].OK ||
		e.Calls[1].Error == "" {
		t.Errorf("got %+v", e)
	}
	wantResult(t, session, `await fs.read_text_file({path: "c.txt"})`, `"1"`)
}

func TestRules(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{rules: sandbox.Rules{Lines: 2, Names: []string{"setTimeout"}}})
	for _, code := range []string{"1\n2\n3", "setTimeout(() => 1, 1)"} {
		if e := executeCode(t, session, map[string]any{"code": code}); e.ErrorType != "POLICY_VIOLATION" ||
			e.Diagnostics[0].ErrorType != "POLICY_VIOLATION" {
			t.Errorf("got %+v", e)
		}
	}
	for _, code := range []string{"for (;;) {}", "await sleep(1e6)"} {
		if e := executeCode(t, session, map[string]any{"code": code, "timeout": 0.2}); e.ErrorType != "TIMEOUT" {
			t.Errorf("got %+v", e)
		}
	}
}
