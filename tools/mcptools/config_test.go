package mcptools

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")

	_, err := ReadConfig(path)
	equal(t, "missing file", fmt.Sprint(err), `mcp configuration: open `+path+
		`: no such file or directory; create it with {"mcpServers": {"name": {"command": "…"}}}`)
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("a missing file is not os.ErrNotExist")
	}

	write(t, path, `{"mcpServers":`)
	_, err = ReadConfig(path)
	equal(t, "malformed file", fmt.Sprint(err), `mcp configuration `+path+
		`: malformed JSON: line 1, column 15: parsing value: unexpected EOF`)

	write(t, path, `{"mcpServers": {"a": {"command": "a", "cwd": "sub"}}}`)
	c, err := ReadConfig(path)
	equal(t, "relative cwd", summary(c, err), "a: a [] map[] in "+filepath.Join(dir, "sub"))
}

func TestReadConfigUsesItsDirectory(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	folder := filepath.Join(project, ".vscode")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "mcp.json")
	write(t, path,
		`{"servers": {"a": {"command": "a", "args": ["${workspaceFolder}/src", "${workspaceFolderBasename}"], `+
			`"cwd": "${workspaceFolder}"}}}`)
	c, err := ReadConfig(path)
	equal(t, "folder", summary(c, err), fmt.Sprintf("a: a [%s %s] map[] in %s", filepath.Join(project, "src"),
		filepath.Base(project), project))

	write(t, filepath.Join(folder, "one.env"), "A=file\nB='$file'\n")
	write(t, path,
		`{"servers": {"a": {"command": "a", "envFile": "one.env", "env": {"A": "entry"}}, "b": {"command": "b", `+
			`"envFile": "${workspaceFolder}/.vscode/one.env", "env": {"A": null}}, "c": {"command": "c", "disabled": `+
			`true, "envFile": "none"}}}`)
	c, err = ReadConfig(path)
	equal(t, "envFile", summary(c, err), "a: a [] map[A:entry B:$file]\nb: b [] map[B:$file]\nc: c [] map[] disabled")

	write(t, filepath.Join(folder, "bad.env"), "A=1\n\nsecret stuff\n")
	write(t, path,
		`{"servers": {"a": {"command": "a", "envFile": "none.env"}, "b": {"command": "b", "envFile": "bad.env"}, "c": `+
			`{"command": "c", "envFile": "."}}}`)
	_, err = ReadConfig(path)
	equal(t, "errors", fmt.Sprint(err), "mcp configuration "+path+`: server "a": "envFile": open `+folder+
		"/none.env: no such file or directory\n"+
		`server "b": "envFile": `+folder+"/bad.env: line 3 is not NAME=value, or its quotes are not closed\n"+
		`server "c": "envFile": `+folder+" is not a regular file")
}

func TestOffers(t *testing.T) {
	t.Parallel()
	c := ServerConfig{Allow: []string{"*"}, Deny: []string{"admin/*", "[x"}}
	for tool, want := range map[string]bool{"read": true, "odd/name": true, "admin/drop": false, "[x": false} {
		if c.offers(tool) != want {
			t.Errorf("%s: %v", tool, !want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A pattern that matches no tool is reported with a suggestion.
func TestPatternsThatMatchNothing(t *testing.T) {
	t.Parallel()
	address := serveWeb(t, script{"tools/list": result(`{"tools":[{"name":"echo"},{"name":"add"}]}`)}.handler(asJSON, nil))
	c, err := ParseConfig([]byte(`{"mcpServers": {"ok": {"url": "`+address+
		`", "disabledTools": ["ehco", "ad*"], "exclude_tools": ["zzz"], "tools": ["*", "ehco"]}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Servers[0].Deny = append(c.Servers[0].Deny, "host")
	s, err := Start(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
		equalLines(t, "warnings", s.Warnings(),
			`mcp server "ok": the pattern "ehco" of allowed tools matches no tool of the server (did you mean "echo"?)`,
			`mcp server "ok": the pattern "ehco" of denied tools matches no tool of the server (did you mean "echo"?)`,
			`mcp server "ok": the pattern "zzz" of denied tools matches no tool of the server`,
			`mcp server "ok": the pattern "host" of denied tools matches no tool of the server`)
	}
}

func TestAllServersDisabled(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), &Config{Servers: []ServerConfig{{Name: "a", Command: "a", Disabled: true}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	equalLines(t, "warnings", s.Warnings(),
		"all mcp servers are disabled, so there are no tools; enable one in the configuration")
}

func TestServerConfigPrintsNoSecrets(t *testing.T) {
	t.Parallel()
	c := ServerConfig{
		Name: "s", Args: []string{"--key", "s3cret"}, URL: "https://example.com/?key=s3cret",
		Env: map[string]string{"KEY": "s3cret"}, Headers: map[string]string{"X-Key": "s3cret"},
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("config", "one", c)
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%+v", &c),
		fmt.Sprintf("%+v", Config{Servers: []ServerConfig{c}}), logged.String()} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "X-Key") {
			t.Error(text)
		}
	}
	equal(t, "the configuration itself", c.Headers["X-Key"], "s3cret")
	equal(t, "text", c.String(),
		"{Name:s Description: Command: Args:[[2 hidden]] Env:map[KEY:[hidden]] Dir: URL:[hidden] Type: "+
			"Headers:map[X-Key:[hidden]] Timeout:0s Allow:[] Deny:[] Disabled:false}")
}
