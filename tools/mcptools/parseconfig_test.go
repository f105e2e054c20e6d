package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
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
	for _, c := range archived(t, "configs.txtar") {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, c.in, summary(ParseConfig([]byte(c.in), vars)), c.want)
			equal(t, "with a byte order mark", summary(ParseConfig([]byte("\ufeff"+c.in), vars)), c.want)
		})
	}
}

// pair is an input in an archive and what is wanted of it.
type pair struct{ name, in, want string }

// archived returns the pairs of an archive in testdata. Each is a file with the input, followed by a file "want".
func archived(t *testing.T, name string) (pairs []pair) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for both := range slices.Chunk(archive.Files, 2) {
		if len(both) != 2 || both[1].Name != "want" {
			t.Fatalf("%s: %q has no want", name, both[0].Name)
		}
		in, want := strings.TrimSuffix(string(both[0].Data), "\n"), strings.TrimSuffix(string(both[1].Data), "\n")
		pairs = append(pairs, pair{both[0].Name, in, want})
	}
	return pairs
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
