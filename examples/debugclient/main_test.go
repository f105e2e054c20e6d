package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

// TestMain makes the test binary the files server if it is started as one.
func TestMain(m *testing.M) {
	testserver.Main()
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(dir))
	}
	os.Exit(code)
}

// built returns the server of this module, which is built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "debugclient-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "mcpserver")
	cmd := exec.Command("go", "build", "-o", path, "../mcpserver")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func mcpserver(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// durations matches durations, which differ from run to run.
var durations = regexp.MustCompile(`\b([0-9]+h)?([0-9]+m)?[0-9.]+(µs|ms|s)\b`)

var tokens = regexp.MustCompile(`[0-9]+ (tokens in|out)`)

// says runs the command and compares its output, except for durations.
func says(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	var stdout bytes.Buffer
	if got := command(t.Context(), args, &stdout, t.Output()); got != code {
		t.Errorf("%q: exit code %d, want %d", args, got, code)
	}
	if got := tokens.ReplaceAllString(durations.ReplaceAllString(stdout.String(), "TIME"), "TOKENS $1"); got != want {
		t.Errorf("%q\ngot\n%s\nwant\n%s", args, got, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("3"), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, err := testserver.WriteConfig(t.TempDir(), map[string]any{"fs": testserver.Entry(folder)})
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "replies")
	if err := os.WriteFile(script, []byte("```js\nsubmit({answer: await fs.read_text_file({path: 'a.txt'})})\n```\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program.js")
	if err := os.WriteFile(program, []byte("console.log('hello');\nawait fs.read_text_file({path: 'a.txt'})"),
		0o600); err != nil {
		t.Fatal(err)
	}
	server := []string{"--", mcpserver(t), "-config", servers, "-model", "script:" + script}
	says(t, 0, `── console
   hello
── calls
   fs.read_text_file  TIME
── result
   "3"
── time
   TIME
`, append([]string{"-file", program}, server...)...)
	says(t, 1, `── error
   UNKNOWN_TOOL: fs has no tool "reed" (line 1, column 4); fs has die, learn, list_directory, read_text_file, write_file
   1 | fs.reed({})
     |    ^
── time
   TIME
`, append([]string{"-code", "fs.reed({})"}, server...)...)
	says(t, 0, `── program 1
   submit({answer: await fs.read_text_file({path: 'a.txt'})})
── calls
   fs.read_text_file({"path":"a.txt"})
── answer
   3
── model
   called 1 times, TOKENS tokens in, TOKENS out
── time
   TIME
`, append([]string{"-task", "What is in a.txt?"}, server...)...)
	says(t, 0, `{
  "tools": [
    {
      "description": "",
      "name": "fs.write_file"
    }
  ]
}
`, append([]string{"-tool", "search_tools", "-args", `{"query": "write", "limit": 1}`}, server...)...)
}

func TestList(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	code := command(t.Context(), []string{"--", mcpserver(t)}, &stdout, t.Output())
	if code != 0 || !strings.Contains(stdout.String(),
		"execute_code(code, environment?, language?, session?, timeout?, variables?)\n    Run a ") {
		t.Errorf("exit code %d\n%s", code, stdout.String())
	}
}

// TestWeb connects over HTTP, with a token, in every protocol.
func TestWeb(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-more-than-twenty-characters"
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	if err := os.WriteFile(tokens, []byte(`{"tokens": [{"principal": "ada", "token": "`+token+`"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, "-transport", "http", "-addr", "127.0.0.1:0", "-tokens", tokens)
	for _, protocol := range [][]string{nil, {"-protocol", "2025-11-25"}} {
		args := append([]string{"-url", url, "-code", "6 * 7"}, protocol...)
		says(t, 0, "── result\n   42\n── time\n   TIME\n", append(args, "-token", token)...)
		says(t, 1, "", append(args, "-token", "wrong")...)
	}
}

// TestNoPath connects to an address without the path of the endpoint.
func TestNoPath(t *testing.T) {
	t.Parallel()
	at := strings.TrimSuffix(serve(t, "-transport", "http", "-addr", "127.0.0.1:0"), "/mcp")
	for _, test := range []struct{ url, want string }{
		{at, notFound + "; most servers answer at a path: try -url " + at + "/mcp\n"},
		{at + "/", notFound + "; most servers answer at a path: try -url " + at + "/mcp\n"},
		{at + "/nothing", notFound + "\n"},
	} {
		var stderr bytes.Buffer
		if code := command(t.Context(), []string{"-protocol", "2025-11-25", "-url", test.url}, t.Output(),
			&stderr); code != 1 || stderr.String() != test.want {
			t.Errorf("%s: exit code %d\n%s", test.url, code, stderr.String())
		}
	}
}

const notFound = `debugclient: calling "initialize": sending "initialize": Not Found`

// serve starts the server and returns its address.
func serve(t *testing.T, args ...string) (url string) {
	t.Helper()
	cmd := exec.Command(mcpserver(t), args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	for log := bufio.NewScanner(stderr); log.Scan(); {
		if at := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(log.Text()); at != nil {
			go func() { // read the rest of the log, so that the server does not block
				for log.Scan() {
				}
			}()
			return at[1]
		}
	}
	t.Fatal("the server did not log its address")
	return ""
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"-url", "http://127.0.0.1:1", "--", "cat"}, {"-code", "1", "-task", "x", "--", "cat"},
		{"-args", "[]", "--", "cat"}, {"-nonsense"}, {"-file", "missing.js", "--", "cat"},
	} {
		says(t, 2, "", args...)
	}
	says(t, 1, "", "--", "no-such-command-anywhere")
}
