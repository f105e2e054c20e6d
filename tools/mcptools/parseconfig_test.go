package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools/mcptools/internal/web"
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
			"in their order", `{"mcpServers": {"zig": {"command": "z"}, "ant": {"command": "a"}}}`,
			"zig: z [] map[]\nant: a [] map[]",
		},
		{
			"variables with defaults",
			`{"mcpServers": ` +
				`{"s": {"command": "${HOME}/bin/s", "args": ["${env:TOKEN}", "${NONE:-x}y", "${EMPTY:-d}", "$HOME ${}"], ` +
				`"env": {"A": "${TOKEN}"}, "cwd": "${HOME}"}}}`,
			`s: /home/ada/bin/s [s3cret xy d $HOME ${}] map[A:s3cret] in /home/ada`,
		},
		{
			"numbers and booleans as text",
			`{"mcpServers": ` +
				`{"s": {"command": "s", "args": ["-p", 8080, true], "env": {"PORT": 8080, "ON": false, "OFF": null}}}}`,
			`s: s [-p 8080 true] map[ON:false PORT:8080]`,
		},
		{
			"timeouts in seconds and milliseconds",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "timeout": 30}, "b": {"command": "b", "timeout": 60000}, "c": {"command": "c", ` +
				`"timeout": 0.5}}}`,
			"a: a [] map[] within 30s\nb: b [] map[] within 1m0s\nc: c [] map[] within 500ms",
		},
		{
			"disabled, whose variables need not be set", `{"mcpServers": ` +
				`{"a": {"command": "a", "args": ["${NONE}"], "disabled": true}}}`,
			"a: a [] map[] disabled",
		},
		{
			"lists of tools",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "allowedTools": ["read_*"], "includeTools": ["x"], "disabledTools": ["y"], ` +
				`"excludeTools": ["z"]}}}`,
			"a: a [] map[] [read_* x] but [y z]",
		},
		{
			"a bad pattern", `{"mcpServers": {"a": {"command": "a", "disabledTools": ["[x"]}}}`,
			`error: server "a": "[x" is not a valid pattern of tool names: syntax error in pattern`,
		},
		{
			"a remote server",
			`{"mcpServers": ` +
				`{"a": {"type": "http", "url": "https://example.com/mcp", "headers": {}}, "b": {"serverUrl": "http://x"}, ` +
				`"c": {"httpUrl": "http://y/sse"}, "d": {"transport": "streamable_http", "url": "http://z"}, "e": {"type": ` +
				`"streamableHttp", "url": "http://z"}, "f": {"type": "sse", "url": "http://z"}}}`,
			"a:  [] map[] at https://example.com/mcp by http\nb:  [] map[] at http://x\nc:  [] map[] at http://y/sse" +
				"\nd:  [] map[] at http://z by http\n" +
				"e:  [] map[] at http://z by http\nf:  [] map[] at http://z by sse",
		},
		{
			"variables in a URL and headers",
			`{"mcpServers": ` +
				`{"a": {"url": "https://${HOST:-h}/mcp?k=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}", "X-N": 1}}}}`,
			"a:  [] map[] at https://h/mcp?k=s3cret with map[Authorization:Bearer s3cret X-N:1]",
		},
		{
			"bad addresses",
			`{"mcpServers": ` +
				`{"a": {"url": "ws://x"}, "b": {"url": "${TOKEN}"}, "c": {"url": "unix:///s.sock"}, "d": {"url": "x", ` +
				`"disabled": true}, "e": {"type": "sse"}, "g": {"type": ` +
				`"websocket", "url": "http://x"}}}`,
			`error: server "a": "url" must be an address that starts with http:// or https://` + "\n" +
				`server "b": "url" must be an address that starts with http:// or https://` + "\n" +
				`server "c": "url" must be an address that starts with http:// or https://` + "\n" +
				`server "e": no "command" or "url"; add the command that starts the server, or its URL` + "\n" +
				`server "g": "type" is websocket, which is not supported; use stdio, http or sse`,
		},
		{
			"bad headers", `{"mcpServers": ` +
				`{"a": {"url": "http://x", "headers": {"X Y": "1", "Z": "${TOKEN}\nEvil: 1"}}}}`,
			`error: server "a": header name "X Y" is invalid; correct it` + "\n" +
				`server "a": the value of header "Z" has a control character; remove it`,
		},
		{
			"parts without effect",
			`{"mcpServers": ` +
				`{"a": {"url": "http://x", "args": ["-v"], "cwd": ".", "headers": {"accept": "x", "K": "$TOKEN"}, "oauth": ` +
				`{"clientId": "1"}}, "b": {"command": "b", "headers": {"A": "1"}, "env": {"K": "$TOKEN"}, "tools": {"x": ` +
				`{"enabled": false}}}}}`,
			"a:  [-v] map[] in . at http://x with map[K:$TOKEN accept:x]\nb: b [] map[K:$TOKEN] with map[A:1]\n" +
				`warning: mcp server "a": "oauth" is not supported and has no effect; use Options.OAuth` + "\n" +
				`warning: mcp server "a": "args" and "env" have no effect on a server with a URL` + "\n" +
				`warning: mcp server "a": "cwd" and "envFile" have no effect on a server with a URL` + "\n" +
				`warning: mcp server "a": the value of "K" is used literally; to refer to a variable, write ${NAME}` + "\n" +
				`warning: mcp server "b": "tools" is not supported and has no effect` + "\n" +
				`warning: mcp server "b": "headers" have no effect on a server with a command` + "\n" +
				`warning: mcp server "b": the value of "K" is used literally; to refer to a variable, write ${NAME}`,
		},
		{
			"no root", `{"a": {"command": "a"}}`,
			`error: the configuration has no servers; add them, as in {"mcpServers": {"name": {"command": "…"}}}`,
		},
		{
			"enabled",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "enabled": false}, "b": {"command": "b", "enabled": true, "disabled": false}, "c": ` +
				`{"command": "c", "enabled": null}}}`,
			"a: a [] map[] disabled\nb: b [] map[]\nc: c [] map[]",
		},
		{
			"enabled and disabled", `{"mcpServers": {"a": {"command": "a", "enabled": true, "disabled": true}}}`,
			"a: a [] map[] disabled",
		},
		{
			"every key for lists of tools",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "tools": ["1"], "allowed_tools": ["2"], "include_tools": ["3"], "enabledTools": ` +
				`["4"], "enabled_tools": ["5"], "availableTools": ["6"], "available_tools": ["7"], "disabled_tools": ["8"], ` +
				`"exclude_tools": ["9"], "excludedTools": ["10"], "excluded_tools": ["11"]}}}`,
			"a: a [] map[] [1 2 3 4 5 6 7] but [8 9 10 11]",
		},
		{
			"envFile without a folder", `{"mcpServers": {"a": {"command": "a", "envFile": ".env"}}}`,
			`error: server "a": "envFile": needs the directory of the configuration file; use ReadConfig`,
		},
		{
			"an editor's variables", `{"mcpServers": ` +
				`{"a": {"command": "${command:pick}", "args": ["${config:python.path}"]}}}`,
			`error: server "a": the reference ${command:pick} works only in another client; use an environment variable ` +
				"instead\n" +
				`server "a": the reference ${config:python.path} works only in another client; use an environment ` +
				"variable instead",
		},
		{
			"unknown keys", `{"mcpServers": {"a": {"command": "a", "watch": ["*"], "name": "A"}}}`,
			"a: a [] map[]\n" + `warning: mcp server "a": "watch" is not supported and has no effect`,
		},

		{"empty", ``, `error: malformed JSON: line 1, column 1: parsing value: unexpected EOF`},
		{
			"malformed, with its line", "{\n  \"mcpServers\": {\n    \"a\": {\"command\" \"a\"}\n  }\n}",
			`error: malformed JSON: line 3, column 21: invalid character '"' after object name`,
		},
		{"no object", `[]`, `error: the configuration must be an object, as in {"mcpServers": {"name": {"command": "…"}}}`},
		{"no servers", `{"mcpServers": {}}`,
			`warning: "mcpServers" has no servers, so there are no tools; add one: ` +
				`{"mcpServers": {"name": {"command": "…"}}}`},
		{"braces elsewhere", `{"mcpServers": {"a": {"command": "a", "args": ["{env:NONE}"]}}}`, `a: a [{env:NONE}] map[]`},
		{"a command without a program", `{"mcpServers": {"a": {"command": ""}}}`,
			`error: server "a": no "command" or "url"; add the command that starts the server, or its URL`},
		{"a command of the wrong type", `{"mcpServers": {"a": {"command": 7}}}`,
			`error: server "a": "command" must be a string, not number`},
		{"nothing", `{}`,
			`error: the configuration has no servers; add them, as in {"mcpServers": {"name": {"command": "…"}}}`},
		{"root of the wrong type", `{"servers": ["a"]}`,
			`error: "servers" must be an object, as in {"mcpServers": {"name": {"command": "…"}}}`},
		{"two roots", `{"servers": {"a": {"command": "a"}}, "mcpServers": {}}`,
			`error: the configuration has both "servers" and "mcpServers"; keep one`},
		{"the same name twice", `{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}`,
			`error: server "a" is defined twice; rename or remove one`},
		{"entry of the wrong type", `{"mcpServers": ` +
			`{"a": "npx"}}`, `error: server "a": must be an object with a "command", not string`},
		{
			"values of the wrong type",
			`{"mcpServers": ` +
				`{"a": {"command": {}}, "b": {"command": "b", "args": "x"}, "c": {"command": "c", "env": []}, "d": ` +
				`{"command": "d", "disabled": "no"}, "e": {"command": "e", "timeout": "5s"}, "f": {"command": "f", "args": ` +
				`[["x"]]}, "g": {"command": 1, "tools": 3, "headers": {"A": {}}, "env": {"A": ["s3cret"]}}}}`,
			`error: server "a": "command" must be a string, not object` + "\n" +
				`server "b": "args" must be an array of strings, not string` + "\n" +
				`server "c": "env" must be an object of strings, not array` + "\n" +
				`server "d": "disabled" must be true or false, not string` + "\n" +
				`server "e": "timeout" must be a number of seconds, not string` + "\n" +
				`server "f": "args" contains array where a string is expected` + "\n" +
				`server "g": "command" must be a string, not number` + "\n" +
				`server "g": "tools" must be an array of strings, not number` + "\n" +
				`server "g": "headers" contains object where a string is expected` + "\n" +
				`server "g": "env" contains array where a string is expected`,
		},
		{
			"contradictions",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "url": "u"}, "b": {"type": "stdio", "url": "u"}, "c": {"args": []}, "d": {"type": ` +
				`"sse", "command": "d"}, "e": {"command": "e", "timeout": -1}}}`,
			`error: server "a": both "command" and a URL are given; keep one` + "\n" +
				`server "b": "type" is stdio, which does not fit a server with a URL; remove it` + "\n" +
				`server "c": no "command" or "url"; add the command that starts the server, or its URL` + "\n" +
				`server "d": "type" is sse, which does not fit a server with a command; remove it` + "\n" +
				`server "e": "timeout" is negative; use a positive number of seconds`,
		},
		{
			"missing variables, all of them",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "args": ["${ONE}", "${env:TWO}"]}, "b": {"command": "b", "env": {"K": "${input:key}"}}}}`,
			`error: server "a": variable ONE is not set; set it, or give a default: ${ONE:-…}` + "\n" +
				`server "a": variable TWO is not set; set it, or give a default: ${TWO:-…}` + "\n" +
				`server "b": ${input:key} asks the user of an editor; use an environment variable instead, such as ${API_KEY}`,
		},
		{
			"missing variables, with their purpose",
			`{"mcpServers": ` +
				`{"a": {"command": "a", "env": {"D": "${FOUR}", "B": "${TWO}", "A": "${ONE}", "C": "${THREE}"}}}}`,
			`error: server "a": variable ONE is not set; set it, or give a default: ${ONE:-…}` + "\n" +
				`server "a": variable TWO is not set; set it, or give a default: ${TWO:-…}` + "\n" +
				`server "a": variable THREE is not set; set it, or give a default: ${THREE:-…}` + "\n" +
				`server "a": variable FOUR is not set; set it, or give a default: ${FOUR:-…}`,
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
			{s.Type != "", " by " + s.Type},
			{len(s.Headers) > 0, fmt.Sprintf(" with %v", s.Headers)},
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

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"git": {"command": "${HOME}/git-mcp", "args": ["-v", 1], "env": {"A": null}}}}`))
	f.Add([]byte(`{"servers": {"a": {"url": "http://u", "headers": {"A": 1}},},} // done`))
	f.Add([]byte(`{"mcp": {"inputs": [{"id": "x", "options": [{"value": 1}]}], "servers": {"a": {"command": ` +
		`{"path": "a", "args": [1]}, "tools": ["*"], "trust": true}}}}`))
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
		case err == nil && len(c.Servers)+len(c.Warnings) == 0:
			t.Fatal("no servers, no warning and no error")
		case err != nil:
			return
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Servers {
			if _, err := web.ParseURL(s.URL); err != nil && s.URL != "" && !s.Disabled {
				t.Fatal(err)
			}
			if (s.Command == "") == (s.URL == "") && !s.Disabled && !bytes.Contains(data, []byte("${")) {
				t.Fatalf("server %+v has neither a command nor a URL, or both", s)
			}
		}
	})
}

func TestParseConfigSuggestsKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"mcpServers": {"a": {"comand": "x"}}}`,
			`error: server "a": no "command" or "url"; add the command that starts the server, or its URL; "comand" is ` +
				`unknown: did you mean "command"?`},
		{`{"mcpServers": {"a": {"type": "http", "URL": "http://x"}}}`,
			`error: server "a": no "command" or "url"; add the command that starts the server, or its URL; "URL" is ` +
				`unknown: did you mean "url"?`},
		{`{"mcpServers": {"a": {"command": "x", "dissabledTools": ["y"], "oauth": {}}}}`, "a: x [] map[]\n" +
			`warning: mcp server "a": "dissabledTools" is not supported and has no effect; did you mean "disabledTools"?` +
			"\n" +
			`warning: mcp server "a": "oauth" is not supported and has no effect; use Options.OAuth`},
		{`{"mcpservers": {"a": {"command": "x"}}}`, `error: unknown key "mcpservers"; did you mean "mcpServers"?`},
		{`{"theme": "dark", "mcpServer": {}}`, `error: unknown key "mcpServer"; did you mean "mcpServers"?`},
		{`{"mcpServers": {"server": {"command": "x"}}}`, `server: x [] map[]`},
		{`{"mcpServers": {"a": {"command": "x", "timeout": 5000}}}`, "a: x [] map[] within 5s\n" +
			`warning: mcp server "a": "timeout" 5000 is read as milliseconds, not as seconds; write 5 to make that clear`},
		{`{"mcpServers": {"a": {"command": "x", "timeout": 999}, "b": {"command": "x", "timeout": 10000}}}`,
			"a: x [] map[] within 16m39s\nb: x [] map[] within 10s"},
	} {
		equal(t, c.in, summary(ParseConfig([]byte(c.in), vars)), c.want)
	}
}
