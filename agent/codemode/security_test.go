package codemode

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestNothingToRead has programs that try to get at what the server knows.
func TestNothingToRead(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	connect, a := web(t, setup{Options: Options{Storage: storage}, tokens: tokensFile(t)})
	ada, bob := connect(adas, ""), connect(bobs, "")
	get[codeFile](t, ada, "initialize_code_file", map[string]any{"content": "// secret of ada"})
	for _, code := range []string{
		"process.env", "globalThis.process", "require('fs').readFileSync('/proc/self/environ')", "Deno.env.toObject()",
		"fetch('http://127.0.0.1')",
		"import fs from 'fs'", "await import('node:fs')", "this.constructor.constructor('return process')()",
		"//# sourceMappingURL=/etc/passwd\n1", "new Error().stack", "Object.keys(globalThis)", "JSON.stringify(globalThis)",
		"eval('process')", "new Function('return process')()",
		"console.log(globalThis); console.log(Object.getOwnPropertyNames(globalThis))",
	} {
		for _, language := range []string{"javascript", "typescript"} {
			text, _ := ask(t, bob, "execute_code", map[string]any{"code": code, "language": language})
			for _, secret := range []string{adas, bobs, storage, "secret of ada", os.Getenv("HOME"), "root:", "PATH="} {
				if secret != "" && secret != "/" && strings.Contains(string(text), secret) {
					t.Errorf("%s told %q:\n%s", code, secret, text)
				}
			}
		}
	}
	for _, token := range []string{adas, bobs} {
		if a.written.has(token) {
			t.Error("a token is in the log")
		}
	}
}

// TestNoPathOut follows links that somebody has put into the storage.
func TestNoPathOut(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	session, _ := begin(t, setup{Options: Options{Storage: storage}})
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": "1"})
	outside := filepath.Join(t.TempDir(), "outside.js")
	write(t, outside, "'outside'")
	replaced := 0
	err := filepath.WalkDir(storage, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, file.FilePath) {
			replaced++
			if err = os.Remove(path); err == nil {
				err = os.Symlink(outside, path)
			}
		}
		return err
	})
	if err != nil || replaced == 0 {
		t.Fatalf("%d files were replaced (%v)", replaced, err)
	}
	for _, tool := range []string{"read_code_file", "execute_code_file", "append_to_code_file"} {
		args := map[string]any{"file_path": file.FilePath}
		if tool == "append_to_code_file" {
			args["content"] = "more"
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err == nil && !result.IsError {
			t.Errorf("%s followed a link: %+v", tool, result.StructuredContent)
		}
		if text, _ := json.Marshal(result); strings.Contains(string(text), "outside") || err != nil &&
			strings.Contains(err.Error(), storage) {
			t.Errorf("%s tells what is outside, or where: %s, %v", tool, text, err)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "'outside'" {
		t.Errorf("what is outside is %q (%v)", text, err)
	}
}

// TestHeaders has a server behind this one that repeats, in every way that it has,
// the headers which it is sent.
func TestHeaders(t *testing.T) {
	t.Parallel()
	const secret = "the-upstream-secret-4711"
	upstream := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	headers := func(r *mcp.CallToolRequest) string {
		return r.Extra.Header.Get("Authorization") + " " + r.Extra.Header.Get("X-Key")
	}
	schema := json.RawMessage(`{"type": "object"}`)
	upstream.AddTool(&mcp.Tool{Name: "say", InputSchema: schema},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: headers(r)}}}, nil
		})
	upstream.AddTool(&mcp.Tool{Name: "fail", InputSchema: schema},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: headers(r)}}, IsError: true}, nil
		})
	upstream.AddTool(&mcp.Tool{Name: "break", InputSchema: schema},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &problem{"", headers(r)}
		})
	path := behind(t, "echo", upstream, map[string]any{"Authorization": "Bearer " + secret, "X-Key": secret})
	session, a := begin(t, setup{Options: Options{Config: path}})
	for _, code := range []string{
		`const text = await echo.say({}); console.log(text); text`,
		`await echo.fail({})`,
		`await echo.break({})`,
		`try { await echo.fail({}) } catch (e) { JSON.stringify([e.message, e.data, String(e)]) }`,
		`(await echo.say({})).split("").join("|")`,
	} {
		e := executeCode(t, session, map[string]any{"code": code, "retry_of": "none"})
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) ||
			strings.Contains(string(text), strings.Join(strings.Split(secret, ""), "|")) {
			t.Errorf("%s told the secret:\n%s", code, text)
		}
		if len(e.Calls) != 1 || !strings.Contains(string(text), "redacted") && !strings.Contains(string(text), "[|r|e|d") &&
			!strings.Contains(string(text), "hidden") {
			t.Errorf("%s: the server behind was not asked, or said nothing of its headers:\n%s", code, text)
		}
	}
	if a.written.has(secret) {
		t.Errorf("the log has the secret:\n%s", a.written.String())
	}
	a.log.Error("a careless message", "err", "Bearer "+secret)
	if a.written.has(secret) {
		t.Error("the log does not hide the secret")
	}
}

// TestListingsHideSecrets has a server behind this one repeat its token in everything
// that it says of a tool.
func TestListingsHideSecrets(t *testing.T) {
	t.Parallel()
	const secret = "the-upstream-secret-4712"
	upstream := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"},
		&mcp.ServerOptions{Instructions: "Use " + secret})
	upstream.AddTool(&mcp.Tool{
		Name: "say", Title: secret, Description: "Says hello with " + secret + ".",
		InputSchema: json.RawMessage(`{"type": "object", "properties": {"key": {"type": "string", "description": "` +
			secret + `", "default": "` + secret + `"}}}`),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	path := behind(t, "echo", upstream, map[string]any{"Authorization": "Bearer " + secret})
	session, _ := begin(t, setup{Options: Options{Config: path}})
	told := map[string]any{"tools/list": listed(t, session)}
	for name, args := range map[string]any{
		"search_tools":  map[string]any{"query": "hello"},
		"describe_tool": map[string]any{"name": "echo.say"},
		"execute_code": map[string]any{"code": `[await tools.describe("echo.say"), await tools.search("hello"), ` +
			`await echo.say({})]`},
	} {
		text, failed := ask(t, session, name, args)
		if told[name] = text; failed {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, what := range told {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) || !strings.Contains(string(text), "redacted") {
			t.Errorf("%s tells\n%s", name, text)
		}
	}
}
