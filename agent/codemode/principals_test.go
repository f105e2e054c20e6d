package codemode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

const (
	adas = "the-token-of-ada-is-long-enough"
	bobs = "the-token-of-bob-is-long-enough"
	cals = "the-token-of-cal-is-long-enough"
)

func tokensFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.json")
	text := `{"tokens": [
		{"principal": "ada", "token": "` + adas + `"},
		{"principal": "bob", "token": "` + bobs + `"},
		{"principal": "cal", "token": "` + cals + `", "tools": ["execute_code", "search_tools", "fs.read_*"]}
	]}`
	write(t, path, text)
	return path
}

// TestOthersHandles has two principals on two replicas: what one keeps, the other
// cannot find anywhere, and the one finds on both.
func TestOthersHandles(t *testing.T) {
	t.Parallel()
	o := setup{Options: Options{Storage: t.TempDir(), Packages: []string{"*"}}, tokens: tokensFile(t), stateless: true}
	first, _ := web(t, o)
	second, _ := web(t, o)
	for _, version := range []string{"", "2025-11-25"} {
		ada, there := first(adas, version), second(adas, version)
		file := get[codeFile](t, ada, "initialize_code_file", map[string]any{"content": "'secret of ada'"})
		begun := get[execution](t, ada, "execute_code",
			map[string]any{"code": "const mine = 'secret of ada'", "session": "new"})
		get[configuration](t, ada, "configure_environment",
			map[string]any{"environment": "lab", "description": "secret of ada"})
		if e := get[execution](t, there, "execute_code_file",
			map[string]any{"file_path": file.FilePath}); string(e.Result) != `"secret of ada"` {
			t.Errorf("on the other replica: %+v", e)
		}
		if e := get[execution](t, there, "execute_code",
			map[string]any{"code": "mine", "session": begun.Session}); string(e.Result) != `"secret of ada"` {
			t.Errorf("on the other replica: %+v", e)
		}
		for _, bob := range []*mcp.ClientSession{first(bobs, version), second(bobs, version)} {
			for tool, args := range map[string]map[string]any{
				"read_code_file":         {"file_path": file.FilePath},
				"append_to_code_file":    {"file_path": file.FilePath, "content": "x"},
				"execute_code_file":      {"file_path": file.FilePath},
				"execute_code":           {"code": "mine", "session": begun.Session},
				"get_environment_config": {"environment": "lab"},
				"discard":                {"handle": begun.Session},
			} {
				text, failed := ask(t, bob, tool, args)
				if !failed || strings.Contains(string(text), "secret") || !strings.Contains(string(text), "not found") &&
					!strings.Contains(string(text), "no code file, session") {
					t.Errorf("%s by bob: %s", tool, text)
				}
			}
		}
	}
}

// TestAllowList has a principal who may use few tools, of the server and of others.
func TestAllowList(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	connect, _ := web(t, setup{Options: Options{Config: path}, tokens: tokensFile(t)})
	for _, version := range []string{"", "2025-11-25"} {
		cal := connect(cals, version)
		for name, tool := range listed(t, cal) {
			if strings.Contains(tool.Description, "write_file") {
				t.Errorf("%s tells of what cal may not use:\n%s", name, tool.Description)
			}
		}
		names, want := toolNames(t, cal), []string{"execute_code", "search_tools"}
		if !slices.Equal(names, want) {
			t.Errorf("cal is offered %q, want %q", names, want)
		}
		wantResult(t, cal, `await fs.read_text_file({path: "a.txt"})`, `"3"`)
		for _, code := range []string{
			`await fs.write_file({path: "c.txt", content: "1"})`, `await fs["write_file"]({path: "c.txt", content: "1"})`,
			`const name = "write_" + "file"; await fs[name]({path: "c.txt", content: "1"})`,
		} {
			if e := executeCode(t, cal, map[string]any{"code": code}); e.Success {
				t.Errorf("%s: %+v", code, e)
			}
		}
		if _, err := cal.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "initialize_code_file", Arguments: map[string]any{"content": "1"}}); err == nil {
			t.Error("cal could begin a code file")
		}
		if e := executeCode(t, connect(adas, version),
			map[string]any{"code": `await fs.write_file({path: "ada.txt", content: "1"})`}); !e.Success {
			t.Errorf("ada may: %+v", e)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "c.txt")); err == nil {
		t.Error("cal has written a file")
	}
}

// TestBusy has one program too many: it is turned away, and the others are done.
func TestBusy(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	connect, _ := web(t, setup{Options: Options{Config: path, Queue: queue.Options{Waiting: 1}}, workers: 1})
	session := connect("", "")
	wait := map[string]any{"code": `setInterval(() => 0, 1e6); while (!(await fs.list_directory({path: "."})).includes("go-on")) await ` +
		`sleep(5); "done"`}
	results := make(chan execution, 3)
	for range cap(results) {
		go func() { results <- executeCode(t, session, wait) }()
	}
	if e := <-results; e.ErrorType != "BUSY" ||
		!strings.Contains(e.Diagnostics[0].Message, "nothing was done; try again") {
		t.Errorf("got %+v", e)
	}
	write(t, filepath.Join(folder, "go-on"), "")
	for range 2 {
		if e := <-results; string(e.Result) != `"done"` {
			t.Errorf("got %+v", e)
		}
	}
}

// TestNobody gives no tools to a principal without a name.
func TestNobody(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	_, a := begin(t, setup{Options: Options{Config: path}})
	nobody, release, err := a.catalog.use(serve.Principal{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if n, all := nobody.set.Len(), a.catalog.everything().set.Len(); n != 0 || all == 0 {
		t.Errorf("a principal without a name may use %d of %d tools", n, all)
	}
}
