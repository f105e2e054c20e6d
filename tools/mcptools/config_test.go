package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

var vars = lookup(map[string]string{"HOME": "/home/ada", "TOKEN": "s3cret", "EMPTY": ""})

func TestParseConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{
			"mcpServers", `{"mcpServers": {"git": {"command": "git-mcp", "args": ["-v"]}}}`,
			`git: git-mcp [-v] map[]`,
		},
		{
			"servers, with comments and trailing commas", "\ufeff" + `{
			// VS Code
			"inputs": [],
			"servers": {"git": {"type": "stdio", "command": "git-mcp", /* none */ "args": [],},},
		}`,
			`git: git-mcp [] map[]`,
		},
		{
			"context_servers", `{"theme": "dark", "context_servers": {"git": {"source": "custom", "command": "git-mcp"}}}`,
			`git: git-mcp [] map[]`,
		},
		{
			"a bare map, in its order", `{"zig": {"command": "z"}, "ant": {"command": "a"}}`,
			"zig: z [] map[]\nant: a [] map[]",
		},
		{
			"variables with defaults", `{"s": {"command": "${HOME}/bin/s", "args": ["${env:TOKEN}", "${NONE:-x}y", "${EMPTY:-d}", "$HOME ${}"], "env": {"A": "${TOKEN}"}, "cwd": "${HOME}"}}`,
			`s: /home/ada/bin/s [s3cret xy d $HOME ${}] map[A:s3cret] in /home/ada`,
		},
		{
			"numbers and booleans as text", `{"s": {"command": "s", "args": ["-p", 8080, true], "env": {"PORT": 8080, "ON": false, "OFF": null}}}`,
			`s: s [-p 8080 true] map[ON:false PORT:8080]`,
		},
		{
			"timeouts in seconds and milliseconds", `{"a": {"command": "a", "timeout": 30}, "b": {"command": "b", "timeout": 60000}, "c": {"command": "c", "timeout": 0.5}}`,
			"a: a [] map[] within 30s\nb: b [] map[] within 1m0s\nc: c [] map[] within 500ms",
		},
		{
			"disabled, whose variables need not be set", `{"a": {"command": "a", "args": ["${NONE}"], "disabled": true}}`,
			"a: a [] map[] disabled",
		},
		{
			"lists of tools", `{"a": {"command": "a", "allowedTools": ["read_*"], "includeTools": ["x"], "disabledTools": ["y"], "excludeTools": ["z"]}}`,
			"a: a [] map[] [read_* x] but [y z]",
		},
		{
			"a bad pattern", `{"a": {"command": "a", "disabledTools": ["[x"]}}`,
			`error: server "a": "[x" is no pattern of tool names: syntax error in pattern`,
		},
		{
			"a remote server", `{"a": {"type": "http", "url": "https://example.com/mcp", "headers": {}}, "b": {"serverUrl": "x"}, "c": {"httpUrl": "y"}}`,
			"a:  [] map[] at https://example.com/mcp\nb:  [] map[] at x\nc:  [] map[] at y",
		},
		{
			"unknown keys", `{"a": {"command": "a", "autoApprove": ["*"], "envFile": ".env"}}`,
			"a: a [] map[]\n" +
				`warning: mcp server "a": "autoApprove" is not supported and has no effect` + "\n" +
				`warning: mcp server "a": "envFile" is not supported and has no effect`,
		},

		{"empty", ``, `error: malformed JSON: line 1, column 1: parsing value: unexpected EOF`},
		{
			"malformed, with its line", "{\n  \"mcpServers\": {\n    \"a\": {\"command\" \"a\"}\n  }\n}",
			`error: malformed JSON: line 3, column 21: invalid character '"' after object name`,
		},
		{"no object", `[]`, `error: the configuration must be an object, as in {"mcpServers": {"name": {"command": "…"}}}`},
		{"no servers", `{"mcpServers": {}}`, `error: no servers; add one: {"mcpServers": {"name": {"command": "…"}}}`},
		{"nothing", `{}`, `error: no servers; add one: {"mcpServers": {"name": {"command": "…"}}}`},
		{"root of the wrong type", `{"servers": ["a"]}`, `error: "servers" must be an object, as in {"mcpServers": {"name": {"command": "…"}}}`},
		{"two roots", `{"servers": {"a": {"command": "a"}}, "mcpServers": {}}`, `error: both "servers" and "mcpServers" are there; keep one`},
		{"the same name twice", `{"a": {"command": "a"}, "a": {"command": "b"}}`, `error: server "a" is there twice; rename or remove one`},
		{"entry of the wrong type", `{"a": "npx"}`, `error: server "a": must be an object with a "command", not string`},
		{
			"values of the wrong type", `{"a": {"command": ["npx"]}, "b": {"command": "b", "args": "x"}, "c": {"command": "c", "env": []}, "d": {"command": "d", "disabled": "no"}, "e": {"command": "e", "timeout": "5s"}, "f": {"command": "f", "args": [["x"]]}}`,
			`error: server "a": "command" must be a string, not array` + "\n" +
				`server "b": "args" must be an array of strings, not string` + "\n" +
				`server "c": "env" must be an object of strings, not array` + "\n" +
				`server "d": "disabled" must be true or false, not string` + "\n" +
				`server "e": "timeout" must be a number of seconds, not string` + "\n" +
				`server "f": ["x"] where text is expected`,
		},
		{
			"contradictions", `{"a": {"command": "a", "url": "u"}, "b": {"type": "stdio", "url": "u"}, "c": {"args": []}, "d": {"type": "sse", "command": "d"}, "e": {"command": "e", "timeout": -1}}`,
			`error: server "a": both "command" and a URL are given; keep one` + "\n" +
				`server "b": "type" is stdio, but a URL is given; give a "command" instead` + "\n" +
				`server "c": no "command"; give the program that starts it` + "\n" +
				`server "d": "type" is sse, but a "command" is given; remove the type, or make it stdio` + "\n" +
				`server "e": "timeout" is negative; give seconds`,
		},
		{
			"missing variables, all of them", `{"a": {"command": "a", "args": ["${ONE}", "${env:TWO}"]}, "b": {"command": "b", "env": {"K": "${input:key}"}}}`,
			`error: server "a": variable ONE is not set; set it, or give a default: ${ONE:-…}` + "\n" +
				`server "a": variable TWO is not set; set it, or give a default: ${TWO:-…}` + "\n" +
				`server "b": ${input:key} asks somebody at an editor; use a variable: ${key}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, c.in, summary(ParseConfig([]byte(c.in), vars)), c.want)
		})
	}
}

func summary(c *Config, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, s := range c.Servers {
		line := fmt.Sprintf("%s: %s %v %v", s.Name, s.Command, s.Args, s.Env)
		for _, part := range []struct {
			there bool
			text  string
		}{
			{s.Dir != "", " in " + s.Dir},
			{s.Timeout > 0, " within " + s.Timeout.String()},
			{s.Disabled, " disabled"},
			{len(s.Allow)+len(s.Deny) > 0, fmt.Sprintf(" %v but %v", s.Allow, s.Deny)},
			{s.URL != "", " at " + s.URL},
		} {
			if part.there {
				line += part.text
			}
		}
		lines = append(lines, line)
	}
	for _, w := range c.Warnings {
		lines = append(lines, "warning: "+w)
	}
	return strings.Join(lines, "\n")
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")

	_, err := ReadConfig(path, nil)
	equal(t, "missing file", fmt.Sprint(err), `mcp configuration: open `+path+`: no such file or directory; write {"mcpServers": {"name": {"command": "…"}}} there`)
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("a missing file is not os.ErrNotExist")
	}

	write(t, path, `{"mcpServers":`)
	_, err = ReadConfig(path, nil)
	equal(t, "malformed file", fmt.Sprint(err), `mcp configuration `+path+`: malformed JSON: line 1, column 15: parsing value: unexpected EOF`)

	write(t, path, `{"mcpServers": {"a": {"command": "a", "cwd": "sub"}}}`)
	c, err := ReadConfig(path, nil)
	equal(t, "relative cwd", summary(c, err), "a: a [] map[] in "+filepath.Join(dir, "sub"))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"git": {"command": "${HOME}/git-mcp", "args": ["-v", 1], "env": {"A": null}}}}`))
	f.Add([]byte(`{"servers": {"a": {"url": "u"},},} // done`))
	f.Add([]byte("\ufeff{\"a\": {\"command\": \"${A:-${B}}\", \"timeout\": 1e400}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		c, err := ParseConfig(data, nil)
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
		switch {
		case err != nil && c != nil:
			t.Fatal("both a configuration and an error")
		case err == nil && len(c.Servers) == 0:
			t.Fatal("neither servers nor an error")
		case err != nil:
			return
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Servers {
			if (s.Command == "") == (s.URL == "") && !s.Disabled && !bytes.Contains(data, []byte("${")) {
				t.Fatalf("server %+v says not how to be reached", s)
			}
		}
	})
}
