package codemode

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestCodeFile(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	file := get[codeFile](t, session, "initialize_code_file",
		map[string]any{"content": "let sum = 0;\n", "filename": "sum.js"})
	if file.Filename != "sum.js" || file.FilePath == "sum.js" || file.SizeBytes != 13 {
		t.Errorf("got %+v", file)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			get[codeFile](t, session, "append_to_code_file",
				map[string]any{"file_path": file.FilePath, "content": fmt.Sprintf("sum += %d;\n", i)})
		})
	}
	all.Wait()
	get[codeFile](t, session, "append_to_code_file", map[string]any{"file_path": file.FilePath, "content": "sum * factor"})
	got := get[execution](t, session, "execute_code_file",
		map[string]any{"file_path": file.FilePath, "variables": map[string]any{"factor": 2}})
	if string(got.Result) != "380" {
		t.Errorf("got %+v", got)
	}
	part := get[filePart](t, session, "read_code_file", map[string]any{"file_path": file.FilePath, "limit": 13})
	if part.Content != "let sum = 0;\n" || part.NextOffset == nil || *part.NextOffset != 13 {
		t.Errorf("got %+v", part)
	}
	rest := get[filePart](t, session, "read_code_file", map[string]any{"file_path": file.FilePath, "offset": 13})
	if !strings.HasSuffix(rest.Content, "sum * factor") || rest.NextOffset != nil ||
		strings.Count(rest.Content, "sum +=") != 20 {
		t.Errorf("got %+v", rest)
	}
	get[struct{}](t, session, "discard", map[string]any{"handle": file.FilePath})
	for _, tool := range []string{"read_code_file", "execute_code_file", "discard"} {
		args := map[string]any{"file_path": file.FilePath}
		if tool == "discard" {
			args = map[string]any{"handle": file.FilePath}
		}
		if text, failed := ask(t, session, tool, args); !failed || !strings.Contains(string(text), "you have no file") &&
			!strings.Contains(string(text), "no code file, session or environment is called") {
			t.Errorf("%s of what is gone: %s", tool, text)
		}
	}
}

// TestLargeProgram is larger than one message need be.
func TestLargeProgram(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": "let n = 0;\n"})
	for range 5 {
		get[codeFile](t, session, "append_to_code_file",
			map[string]any{"file_path": file.FilePath, "content": strings.Repeat("n += 1; // and on\n", 5000)})
	}
	get[codeFile](t, session, "append_to_code_file", map[string]any{"file_path": file.FilePath, "content": "n"})
	if e := get[execution](t, session, "execute_code_file",
		map[string]any{"file_path": file.FilePath}); string(e.Result) != "25000" {
		t.Errorf("got %+v", e)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	for _, name := range []string{"../x.js", "/etc/passwd", "a/b.js", "..", strings.Repeat("x", 500)} {
		if text, failed := ask(t, session, "initialize_code_file",
			map[string]any{"content": "1", "filename": name}); !failed || !strings.Contains(string(text), "name") {
			t.Errorf("%.20s: %s", name, text)
		}
	}
	for _, path := range []string{"", "../../etc/passwd", "/etc/passwd", "nothing-00000000.js"} {
		if text, failed := ask(t, session, "read_code_file", map[string]any{"file_path": path}); !failed ||
			!strings.Contains(string(text), "not found") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}})
	first := get[execution](t, session, "execute_code",
		map[string]any{"session": "new", "code": `const text = await fs.read_text_file({path: "a.txt"});`})
	if first.Session == "" || first.Session == "new" {
		t.Fatalf("got %+v", first)
	}
	second := get[execution](t, session, "execute_code", map[string]any{"session": first.Session, "code": `text + "!"`})
	if string(second.Result) != `"3!"` || second.Session != first.Session {
		t.Errorf("got %+v", second)
	}
	third := get[execution](t, session, "execute_code", map[string]any{"session": first.Session, "language": "typescript", "code": `interface N { n: number }
const held: N = {n: Number(text)}; held.n`})
	fourth := get[execution](t, session, "execute_code", map[string]any{"session": first.Session, "code": `held.n + 1`})
	if string(third.Result) != "3" || string(fourth.Result) != "4" {
		t.Errorf("got %+v and %+v", third, fourth)
	}
	if e := executeCode(t, session, map[string]any{"session": "made-up", "code": `1`}); e.ErrorType != "NOT_FOUND" {
		t.Errorf("got %+v", e)
	}
}
