package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	pathpkg "path"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// entry is a server as files write it.
type entry struct {
	Type        string             `json:"type"`
	Command     string             `json:"command"`
	Args        []scalar           `json:"args"`
	Env         map[string]*scalar `json:"env"` // null unsets, as in VS Code
	Cwd         string             `json:"cwd"`
	URL         string             `json:"url"`
	ServerURL   string             `json:"serverUrl"`
	HTTPURL     string             `json:"httpUrl"`
	Disabled    bool               `json:"disabled"`
	Timeout     float64            `json:"timeout"`
	Description string             `json:"description"`

	// Both lists have a name in each client.
	AllowedTools  []string `json:"allowedTools"`
	IncludeTools  []string `json:"includeTools"`
	DisabledTools []string `json:"disabledTools"`
	ExcludeTools  []string `json:"excludeTools"`
}

// keys are those of entry, and what only matters to a person at an editor.
var keys = map[string]bool{
	"type": true, "command": true, "args": true, "env": true, "cwd": true,
	"url": true, "serverUrl": true, "httpUrl": true, "headers": true,
	"disabled": true, "timeout": true, "description": true,
	"allowedTools": true, "includeTools": true, "disabledTools": true, "excludeTools": true,
	"name": true, "title": true, "source": true,
}

func (c *Config) add(m member, lookup func(string) (string, bool)) error {
	var e entry
	if err := json.Unmarshal(m.value, &e); err != nil {
		return fmt.Errorf("server %q: %s", m.name, describe(err))
	}
	if err := e.contradiction(); err != nil {
		return fmt.Errorf("server %q: %w", m.name, err)
	}
	c.warnUnknown(m)
	x := expander{lookup: lookup}
	if e.Disabled { // its variables may well not be set
		x.lookup = func(string) (string, bool) { return "", true }
	}
	c.Servers = append(c.Servers, e.server(m.name, &x))
	for i, err := range x.errs {
		x.errs[i] = fmt.Errorf("server %q: %w", m.name, err)
	}
	return errors.Join(x.errs...)
}

func (e *entry) url() string {
	for _, u := range []string{e.URL, e.ServerURL, e.HTTPURL} {
		if u != "" {
			return u
		}
	}
	return ""
}

func (e *entry) allow() []string { return slices.Concat(e.AllowedTools, e.IncludeTools) }
func (e *entry) deny() []string  { return slices.Concat(e.DisabledTools, e.ExcludeTools) }

func (e *entry) contradiction() error {
	remote := e.url() != ""
	switch {
	case remote && e.Command != "":
		return errors.New(`both "command" and a URL are given; keep one`)
	case remote && e.Type == "stdio":
		return errors.New(`"type" is stdio, but a URL is given; give a "command" instead`)
	case !remote && e.Command == "":
		return errors.New(`no "command"; give the program that starts it`)
	case !remote && e.Type != "" && e.Type != "stdio":
		return fmt.Errorf(`"type" is %s, but a "command" is given; remove the type, or make it stdio`, e.Type)
	case e.Timeout < 0:
		return errors.New(`"timeout" is negative; give seconds`)
	}
	for _, pattern := range slices.Concat(e.allow(), e.deny()) {
		if _, err := pathpkg.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is no pattern of tool names: %w", pattern, err)
		}
	}
	return nil
}

func (e *entry) server(name string, x *expander) ServerConfig {
	s := ServerConfig{
		Name:        name,
		Description: e.Description,
		Command:     x.expand(e.Command),
		Env:         map[string]string{},
		Dir:         x.expand(e.Cwd),
		Timeout:     e.timeout(),
		Allow:       e.allow(),
		Deny:        e.deny(),
		Disabled:    e.Disabled,
		URL:         e.url(),
	}
	for _, a := range e.Args {
		s.Args = append(s.Args, x.expand(string(a)))
	}
	for key, value := range e.Env {
		if value != nil {
			s.Env[key] = x.expand(string(*value))
		}
	}
	return s
}

// timeout reads a number that some clients mean as seconds and others as
// milliseconds: nobody waits a quarter of an hour, nor less than a second.
func (e *entry) timeout() time.Duration {
	unit := time.Second
	if e.Timeout >= 1000 {
		unit = time.Millisecond
	}
	return time.Duration(e.Timeout * float64(unit))
}

func (c *Config) warnUnknown(m member) {
	v, err := hujson.Parse(m.value)
	if err != nil {
		return // unreachable: it has been decoded
	}
	list, err := members(v, m.name)
	if err != nil {
		return
	}
	for _, key := range list {
		if !keys[key.name] {
			c.Warnings = append(c.Warnings, fmt.Sprintf("mcp server %q: %q is not supported and has no effect", m.name, key.name))
		}
	}
}

// scalar is text that files also write as a number or a boolean.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil && data[0] == '"' {
		*s = scalar(text)
		return nil
	}
	switch data[0] {
	case '{', '[', 'n':
		return fmt.Errorf("%s where text is expected", data)
	}
	*s = scalar(data)
	return nil
}

// describe words a decoding error in the terms of the file.
func describe(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	if wrong.Field == "" {
		return fmt.Sprintf("must be an object with a \"command\", not %s", wrong.Value)
	}
	return fmt.Sprintf("%q must be %s, not %s", wrong.Field, expected(wrong.Type.Kind().String()), wrong.Value)
}

func expected(kind string) string {
	switch kind {
	case "slice":
		return "an array of strings"
	case "map":
		return "an object of strings"
	case "bool":
		return "true or false"
	case "float64":
		return "a number of seconds"
	default:
		return "a string"
	}
}
