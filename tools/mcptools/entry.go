package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is a server as files write it.
type entry struct {
	kind, transport         string
	command                 command
	args                    []scalar
	env                     map[string]*scalar // null unsets, as in VS Code
	envFile, cwd            string
	url, serverURL, httpURL string
	headers                 map[string]*scalar
	disabled, enabled       *bool
	timeout                 float64
	description             string
	allow, deny             names
	approve                 approval
}

// fields returns where the value of each key goes. What each client calls the
// same thing goes to one place.
func (e *entry) fields() map[string]any {
	f := map[string]any{
		"type": &e.kind, "transport": &e.transport,
		"command": &e.command, "args": &e.args, "env": &e.env, "envFile": &e.envFile, "cwd": &e.cwd,
		"url": &e.url, "serverUrl": &e.serverURL, "httpUrl": &e.httpURL, "headers": &e.headers,
		"disabled": &e.disabled, "enabled": &e.enabled, "timeout": &e.timeout, "description": &e.description,
	}
	for _, key := range []string{
		"allowedTools", "allowed_tools", "includeTools", "include_tools", "enabledTools", "enabled_tools",
		"availableTools", "available_tools", "tools",
	} {
		f[key] = &e.allow
	}
	for _, key := range []string{
		"disabledTools", "disabled_tools", "excludeTools", "exclude_tools", "excludedTools", "excluded_tools",
	} {
		f[key] = &e.deny
	}
	for _, key := range []string{"autoApprove", "auto_approve", "alwaysAllow", "trust"} {
		f[key] = &e.approve
	}
	return f
}

// quiet are keys that only matter to a person at an editor.
var quiet = []string{"name", "title", "source", "gallery", "version", "icon", "$schema"}

// instead says what to do where a key has no effect.
var instead = map[string]string{
	"oauth":            "; the host gives Options.OAuth",
	"auth":             "; the host gives Options.OAuth",
	"authProviderType": "; the host gives Options.OAuth",
	"headersHelper":    "; the host gives Options.HeaderFunc",
}

func (c *Config) add(m member, r *reader) error {
	var e entry
	errs := c.decode(m, &e)
	if len(errs) == 0 {
		errs = e.contradictions()
	}
	if len(errs) == 0 {
		x := expander{reader: r}
		if e.off() { // its variables may well not be set
			x.silent = true
		}
		s := e.server(m.name, &x)
		errs = append(x.errs, s.check(&e)...)
		c.Servers = append(c.Servers, s)
		for _, w := range e.oddities() {
			c.warn(m.name, w)
		}
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("server %q: %w", m.name, err)
	}
	return errors.Join(errs...)
}

func (c *Config) warn(server, text string) {
	c.Warnings = append(c.Warnings, fmt.Sprintf("mcp server %q: %s", server, text))
}

// decode reads the values of an entry, and returns all that are wrong.
func (c *Config) decode(m member, e *entry) (errs []error) {
	list, err := m.members("")
	if err != nil {
		return []error{fmt.Errorf(`must be an object with a "command", not %s`, jsonType(m.value))}
	}
	fields := e.fields()
	for _, key := range list {
		target := fields[key.name]
		switch {
		case slices.Contains(quiet, key.name):
		case target == nil, key.name == "tools" && key.value[0] == '{': // settings by tool
			c.warn(m.name, fmt.Sprintf("%q is not supported and has no effect%s", key.name, instead[key.name]))
		default:
			if err := json.Unmarshal(key.value, target); err != nil {
				errs = append(errs, fmt.Errorf("%q %s", key.name, describe(err, target)))
			}
		}
	}
	return errs
}

func (e *entry) off() bool {
	return e.disabled != nil && *e.disabled || e.enabled != nil && !*e.enabled
}

// address returns the URL, of whatever name.
func (e *entry) address() string {
	for _, u := range []string{e.httpURL, e.url, e.serverURL} {
		if u != "" {
			return u
		}
	}
	return ""
}

// named returns the transport that the entry names: "" for none, and for a word
// that only says that the server is remote.
func (e *entry) named() (kind string, ok bool) {
	for _, name := range []string{e.kind, e.transport} {
		switch strings.ToLower(name) {
		case "", "remote":
			continue
		case "stdio", "local":
			return typeStdio, true
		}
		kind := remoteType(name)
		return kind, kind != ""
	}
	if e.httpURL != "" {
		return typeHTTP, true
	}
	return "", true
}

func (e *entry) contradictions() (errs []error) {
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	remote, local := e.address() != "", e.command.path != ""
	kind, known := e.named()
	said := e.kind + e.transport
	wrong(e.kind != "" && e.transport != "" && e.kind != e.transport, `"type" and "transport" differ; keep one`)
	wrong(!known, `"type" is %s, which is not supported; use stdio, http or sse`, said)
	wrong(remote && local, `both "command" and a URL are given; keep one`)
	wrong(remote && !local && kind == typeStdio, `"type" is %s, but a URL is given; give a "command" instead`, said)
	wrong(!remote && !local && (kind == "" || kind == typeStdio), `no "command"; give the program that starts it, or the "url" where it is`)
	wrong(!remote && !local && kind != "" && kind != typeStdio, `no "url"; give the address where it is`)
	wrong(local && !remote && kind != "" && kind != typeStdio, `"type" is %s, but a "command" is given; remove the type, or make it stdio`, said)
	wrong(differ(e.url, e.serverURL, e.httpURL), "several URLs are given; keep one")
	wrong(e.disabled != nil && e.enabled != nil && *e.disabled == *e.enabled, `"disabled" and "enabled" contradict each other; keep one`)
	wrong(e.timeout < 0, `"timeout" is negative; give seconds`)
	for _, pattern := range slices.Concat(e.allow, e.deny, names(e.approve)) {
		_, err := pathpkg.Match(pattern, "")
		wrong(err != nil, "%q is no pattern of tool names: %w", pattern, err)
	}
	return errs
}

// differ reports whether there are different texts, apart from empty ones.
func differ(texts ...string) bool {
	texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
	return len(texts) > 0 && slices.ContainsFunc(texts, func(t string) bool { return t != texts[0] })
}

func (e *entry) server(name string, x *expander) ServerConfig {
	s := ServerConfig{
		Name:        name,
		Description: e.description,
		Command:     x.expand(e.command.path),
		Dir:         x.path(e.cwd),
		URL:         x.expand(e.address()),
		Headers:     x.all(e.headers),
		Timeout:     e.wait(),
		Allow:       e.allow,
		Deny:        e.deny,
		AutoApprove: e.approve,
		Disabled:    e.off(),
		Env:         x.envFile(e.envFile),
	}
	if s.URL != "" {
		s.Type, _ = e.named()
	}
	for _, a := range slices.Concat(e.command.args, e.args) {
		s.Args = append(s.Args, x.expand(string(a)))
	}
	for _, env := range []map[string]*scalar{e.command.env, e.env} {
		for key, value := range env {
			if value == nil {
				delete(s.Env, key)
			}
		}
		maps.Copy(s.Env, x.all(env))
	}
	return s
}

// wait reads a number that some clients mean as seconds and others as
// milliseconds: nobody waits a quarter of an hour, nor less than a second.
func (e *entry) wait() time.Duration {
	unit := time.Second
	if e.timeout >= 1000 {
		unit = time.Millisecond
	}
	return time.Duration(e.timeout * float64(unit))
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// check returns what is wrong once variables are expanded. It repeats no value.
func (c *ServerConfig) check(e *entry) (errs []error) {
	if c.Disabled {
		return nil
	}
	if e.address() != "" {
		if _, err := parseEndpoint(c.URL); err != nil {
			errs = append(errs, fmt.Errorf(`"url" %w`, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if !headerName.MatchString(name) {
			errs = append(errs, fmt.Errorf("header %q has a name that no header can have", name))
		}
		if strings.ContainsFunc(c.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			errs = append(errs, fmt.Errorf("header %q has a line break or another control character in its value", name))
		}
	}
	return errs
}

// ours are the headers that the protocol sets, and those that mean nothing on a
// request of ours.
var ours = []string{"accept", "content-type", "content-length", "host", "connection", "mcp-session-id", "mcp-protocol-version", "last-event-id"}

var looksLikeVariable = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)

// oddities returns what has no effect, or perhaps not the one that was meant.
func (e *entry) oddities() (list []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	remote := e.address() != ""
	say(remote && len(e.args)+len(e.env) > 0, `"args" and "env" have no effect on a server at a URL`)
	say(remote && e.cwd+e.envFile != "", `"cwd" and "envFile" have no effect on a server at a URL`)
	say(!remote && len(e.headers) > 0, `"headers" have no effect on a server that is started`)
	for _, name := range slices.Sorted(maps.Keys(e.headers)) {
		say(slices.Contains(ours, strings.ToLower(name)), "header %q is set by the protocol and has no effect", name)
	}
	for _, values := range []map[string]*scalar{e.command.env, e.env, e.headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			say(value != nil && looksLikeVariable.MatchString(string(*value)), "the value of %q starts with a dollar and is taken literally; write ${…} if a variable is meant", name)
		}
	}
	return list
}

// command is a program, or a program with its arguments, as Zed wrote it.
type command struct {
	path string
	args []scalar
	env  map[string]*scalar
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *command) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, &c.path)
	}
	var nested struct {
		Path string             `json:"path"`
		Args []scalar           `json:"args"`
		Env  map[string]*scalar `json:"env"`
	}
	err := json.Unmarshal(data, &nested)
	c.path, c.args, c.env = nested.Path, nested.Args, nested.Env
	return err
}

// names are a list that may stand under several keys.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *names) UnmarshalJSON(data []byte) error {
	var list []string
	err := json.Unmarshal(data, &list)
	*n = append(*n, list...)
	return err
}

// approval is a list of tools, or true for all.
type approval []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *approval) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*a = append(*a, "*")
		return nil
	case "false":
		return nil
	}
	return (*names)(a).UnmarshalJSON(data)
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
		return fmt.Errorf("has %s where text is expected", jsonType(data))
	}
	*s = scalar(data)
	return nil
}

// describe words a decoding error in the terms of the file. It repeats no value.
func describe(err error, target any) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("must be %s, not %s", expected(target), wrong.Value)
}

func expected(target any) string {
	switch target.(type) {
	case *[]scalar, *names:
		return "an array of strings"
	case *approval:
		return "an array of strings, or true"
	case *map[string]*scalar:
		return "an object of strings"
	case **bool:
		return "true or false"
	case *float64:
		return "a number of seconds"
	default:
		return "a string"
	}
}

func jsonType(data []byte) string {
	switch data[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// path expands a path, which is taken from the file's folder if it is relative.
func (x *expander) path(text string) string {
	path := x.expand(text)
	if path != "" && x.folder != "" && !filepath.IsAbs(path) {
		path = filepath.Join(x.folder, path)
	}
	return path
}
