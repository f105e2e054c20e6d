package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	pathpkg "path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/signature/schema"
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

	keys   map[listed]string // of the patterns in allow and deny
	strays []stray
}

// stray is an unknown key, and the one that may be meant.
type stray struct{ key, near string }

// fields returns where the value of each key goes. What each client calls the
// same thing goes to one place.
func (e *entry) fields() map[string]any {
	f := map[string]any{
		"type": &e.kind, "transport": &e.transport,
		"command": &e.command, "args": &e.args, "env": &e.env, "environment": &e.env, "envFile": &e.envFile, "cwd": &e.cwd,
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
	e.keys = map[listed]string{}
	for _, key := range list {
		target := fields[key.name]
		switch {
		case slices.Contains(quiet, key.name):
		case target == nil, key.name == "tools" && key.value[0] == '{': // settings by tool
			c.warn(m.name, e.stray(key.name, fields))
		default:
			if err := json.Unmarshal(key.value, target); err != nil {
				errs = append(errs, fmt.Errorf("%q %s", key.name, describe(err, target)))
			}
			e.note(key.name)
		}
	}
	return errs
}

// note keeps the key of the patterns that came with it.
func (e *entry) note(key string) {
	for i, pattern := range slices.Concat(e.allow, e.deny) {
		p := listed{pattern, i >= len(e.allow)}
		if _, known := e.keys[p]; !known {
			e.keys[p] = key
		}
	}
}

// stray says that a key is unknown.
func (e *entry) stray(key string, known map[string]any) string {
	text := fmt.Sprintf("%q is not supported and has no effect%s", key, instead[key])
	if near := schema.Nearest(key, slices.Sorted(maps.Keys(known))); near != "" && instead[key] == "" && near != key {
		e.strays = append(e.strays, stray{key, near})
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// meant says which of the unknown keys may be one of those that are missing.
func (e *entry) meant(missing ...string) string {
	for _, s := range e.strays {
		if slices.Contains(missing, s.near) {
			return fmt.Sprintf("; there is %q: did you mean %q?", s.key, s.near)
		}
	}
	return ""
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
	wrong(!remote && !local && !e.off() && (kind == "" || kind == typeStdio), `no "command"; give the program that starts it, or the "url" where it is%s`, e.meant("command", "url", "serverUrl", "httpUrl"))
	wrong(!remote && !local && kind != "" && kind != typeStdio, `no "url"; give the address where it is%s`, e.meant("url", "serverUrl", "httpUrl"))
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
		keys:        e.keys,
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
	say(e.timeout >= 1000 && e.timeout < 10_000, `"timeout" %v is read as milliseconds (%v), not as seconds (%v); write %v if the former is meant`,
		e.timeout, e.wait(), time.Duration(e.timeout)*time.Second, e.wait().Seconds())
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
