package config

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

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

// entry is a server as files describe it.
type entry struct {
	kind, transport         string
	command                 command
	args                    []scalar
	env                     map[string]*scalar // null unsets a variable, as in VS Code
	envFile, cwd            string
	url, serverURL, httpURL string
	headers                 map[string]*scalar
	disabled, enabled       *bool
	timeout                 float64
	description             string
	allow, deny             patterns
	approve                 approval

	unknown []unknownKey
}

// unknownKey is a key that is not known, and the known key that resembles it.
type unknownKey struct{ key, near string }

// fields returns the variable for the value of each key. Clients have different keys for the
// same thing.
func (e *entry) fields() map[string]any {
	f := map[string]any{
		"type": &e.kind, "transport": &e.transport, "cwd": &e.cwd,
		"command": &e.command, "args": &e.args, "env": &e.env, "environment": &e.env, "envFile": &e.envFile,
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

// ignored are keys that matter only to the user of an editor.
var ignored = []string{"name", "title", "source", "gallery", "version", "icon", "$schema"}

// alternatives says what to do about a key that is not supported.
var alternatives = map[string]string{
	"oauth":            "; use Options.OAuth",
	"auth":             "; use Options.OAuth",
	"authProviderType": "; use Options.OAuth",
	"headersHelper":    "; use Options.HeaderFunc",
}

// add adds the server of an entry.
func (c *Config) add(m member, r *resolver) error {
	var e entry
	errs := c.decode(m, &e)
	if len(errs) == 0 {
		errs = e.contradictions()
	}
	if len(errs) == 0 {
		x := expander{resolver: r, disabled: e.off()}
		s := e.server(m.name, &x)
		errs = append(x.errs, s.check(&e)...)
		c.Servers = append(c.Servers, s)
		for _, w := range e.warnings() {
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

// decode reads the values of an entry and returns all errors.
func (c *Config) decode(m member, e *entry) (errs []error) {
	list, err := m.members("")
	if err != nil {
		return []error{fmt.Errorf(`must be an object with a "command", not %s`, jsonvalue.Type(m.value))}
	}
	fields := e.fields()
	for _, key := range list {
		target := fields[key.name]
		switch {
		case slices.Contains(ignored, key.name):
		case target == nil, key.name == "tools" && key.value[0] == '{': // settings per tool
			c.warn(m.name, e.addUnknown(key.name, fields))
		default:
			if err := json.Unmarshal(key.value, target); err != nil {
				errs = append(errs, fmt.Errorf("%q %s", key.name, describe(err, target)))
			}
		}
	}
	return errs
}

// addUnknown records an unknown key and returns a warning.
func (e *entry) addUnknown(key string, known map[string]any) string {
	text := fmt.Sprintf("%q is not supported and has no effect%s", key, alternatives[key])
	near := schema.Nearest(key, slices.Sorted(maps.Keys(known)))
	if near != "" && alternatives[key] == "" && near != key {
		e.unknown = append(e.unknown, unknownKey{key, near})
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// meant returns which unknown key resembles one of the missing keys, for an error message.
func (e *entry) meant(missing ...string) string {
	for _, u := range e.unknown {
		if slices.Contains(missing, u.near) {
			return fmt.Sprintf("; %q is unknown: did you mean %q?", u.key, u.near)
		}
	}
	return ""
}

func (e *entry) off() bool {
	return e.disabled != nil && *e.disabled || e.enabled != nil && !*e.enabled
}

// address returns the URL, whichever key it is under.
func (e *entry) address() string {
	for _, u := range []string{e.httpURL, e.url, e.serverURL} {
		if u != "" {
			return u
		}
	}
	return ""
}

const stdio = "stdio"

// named returns the transport that the entry names. It is "" if there is none, or only a word
// for any remote server.
func (e *entry) named() (kind string, ok bool) {
	for _, name := range []string{e.kind, e.transport} {
		switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
		case "", "remote":
			continue
		case "stdio", "local":
			return stdio, true
		case "http", "streamablehttp", "streamable":
			return HTTP, true
		case "sse":
			return SSE, true
		}
		return "", false
	}
	if e.httpURL != "" {
		return HTTP, true
	}
	return "", true
}

func (e *entry) contradictions() (errs []error) {
	check := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	hasURL, hasCommand := e.address() != "", e.command.path != ""
	kind, known := e.named()
	typ := e.kind + e.transport
	local, remote := kind == stdio, kind != "" && kind != stdio
	check(e.kind != "" && e.transport != "" && e.kind != e.transport, `"type" and "transport" differ; keep one`)
	check(!known, `"type" is %s, which is not supported; use stdio, http or sse`, typ)
	check(hasURL && hasCommand, `both "command" and a URL are given; keep one`)
	check(hasURL && !hasCommand && local, `"type" is %s, but a URL is given; remove the type, or give a "command"`, typ)
	check(!hasURL && !hasCommand && !e.off() && !remote,
		`no "command" or "url"; add the command that starts the server, or its URL%s`,
		e.meant("command", "url", "serverUrl", "httpUrl"))
	check(!hasURL && !hasCommand && remote, `no "url"; add the address of the server%s`,
		e.meant("url", "serverUrl", "httpUrl"))
	check(hasCommand && !hasURL && remote,
		`"type" is %s, but a "command" is given; remove the type, or make it stdio`, typ)
	check(differ(e.url, e.serverURL, e.httpURL), "several URLs are given; keep one")
	check(e.disabled != nil && e.enabled != nil && *e.disabled == *e.enabled,
		`"disabled" and "enabled" contradict each other; keep one`)
	check(e.timeout < 0, `"timeout" is negative; use a positive number of seconds`)
	for _, pattern := range slices.Concat(e.allow, e.deny, patterns(e.approve)) {
		_, err := pathpkg.Match(pattern, "")
		check(err != nil, "%q is not a valid pattern of tool names: %w", pattern, err)
	}
	return errs
}

// differ reports whether the texts differ, apart from empty ones.
func differ(texts ...string) bool {
	texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
	return len(texts) > 0 && slices.ContainsFunc(texts, func(t string) bool { return t != texts[0] })
}

func (e *entry) server(name string, x *expander) Server {
	s := Server{
		Name:        name,
		Description: e.description,
		Command:     x.expand(e.command.path),
		Dir:         x.path(e.cwd),
		URL:         x.expand(e.address()),
		Headers:     x.all(e.headers),
		Timeout:     e.duration(),
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

// duration returns the timeout. Some clients count in seconds, others in milliseconds; a number
// from 1,000 on is read as milliseconds.
func (e *entry) duration() time.Duration {
	unit := time.Second
	if e.timeout >= 1000 {
		unit = time.Millisecond
	}
	return time.Duration(e.timeout * float64(unit))
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// check returns what is wrong after the expansion. It repeats no value.
func (s *Server) check(e *entry) (errs []error) {
	if s.Disabled {
		return nil
	}
	if e.address() != "" {
		if _, err := ParseURL(s.URL); err != nil {
			errs = append(errs, fmt.Errorf(`"url" %w`, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if !headerName.MatchString(name) {
			errs = append(errs, fmt.Errorf("header name %q is invalid; correct it", name))
		}
		if strings.ContainsFunc(s.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			errs = append(errs, fmt.Errorf("the value of header %q has a control character; remove it", name))
		}
	}
	return errs
}

// protocolHeaders are the headers that the protocol sets, and those without a meaning in a
// request.
var protocolHeaders = []string{
	"accept", "content-type", "content-length", "host", "connection",
	"mcp-session-id", "mcp-protocol-version", "last-event-id",
}

var looksLikeVariable = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)

// warnings returns what has no effect, or perhaps not the intended one.
func (e *entry) warnings() (list []string) {
	check := func(odd bool, format string, args ...any) {
		if odd {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	remote := e.address() != ""
	check(e.timeout >= 1000 && e.timeout < 10_000,
		`"timeout" %v is read as milliseconds, not as seconds; write %v to make that clear`,
		e.timeout, e.duration().Seconds())
	check(remote && len(e.args)+len(e.env) > 0, `"args" and "env" have no effect on a server with a URL`)
	check(remote && e.cwd+e.envFile != "", `"cwd" and "envFile" have no effect on a server with a URL`)
	check(!remote && len(e.headers) > 0, `"headers" have no effect on a server with a command`)
	for _, name := range slices.Sorted(maps.Keys(e.headers)) {
		check(slices.Contains(protocolHeaders, strings.ToLower(name)),
			"header %q has no effect, because the protocol sets it", name)
	}
	for _, values := range []map[string]*scalar{e.command.env, e.env, e.headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			check(value != nil && looksLikeVariable.MatchString(string(*value)),
				"the value of %q is used literally; to refer to a variable, write ${NAME}", name)
		}
	}
	return list
}
