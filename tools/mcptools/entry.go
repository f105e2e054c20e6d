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

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/tools/mcptools/internal/web"
)

// entry is one server's entry in a configuration file.
type entry struct {
	command      string
	url, kind    string
	args         []scalar
	env, headers map[string]*scalar // null unsets a variable, as in VS Code
	envFile, cwd string
	disabled     bool
	enabled      *bool
	timeout      float64
	description  string
	allow, deny  patterns
	unknown      []string // suggestions for unknown keys
}

// fields returns, for each key and alias, where to decode its value.
func (e *entry) fields() map[string]any {
	fields := map[string]any{
		"command": &e.command, "args": &e.args, "env": &e.env, "envFile": &e.envFile, "cwd": &e.cwd,
		"url": &e.url, "type": &e.kind, "headers": &e.headers,
		"disabled": &e.disabled, "enabled": &e.enabled, "timeout": &e.timeout, "description": &e.description,
		"allowedTools": &e.allow, "disabledTools": &e.deny,
	}
	for key, aliases := range aliases {
		for _, alias := range aliases {
			fields[alias] = fields[key]
		}
	}
	return fields
}

// aliases are the keys that other clients use for the same setting.
var aliases = map[string][]string{
	"url":  {"serverUrl", "httpUrl"},
	"type": {"transport"},
	"allowedTools": {
		"allowed_tools", "includeTools", "include_tools", "enabledTools", "enabled_tools",
		"availableTools", "available_tools", "tools",
	},
	"disabledTools": {"disabled_tools", "excludeTools", "exclude_tools", "excludedTools", "excluded_tools"},
}

// ignored are the keys that matter only to editors.
var ignored = []string{"name", "title", "source", "gallery", "version", "icon", "$schema"}

// alternatives says what to use instead of keys that are not supported.
var alternatives = map[string]string{
	"environment":      `; use "env"`,
	"oauth":            "; use package login or Options.OAuth",
	"auth":             "; use package login or Options.OAuth",
	"authProviderType": "; use package login or Options.OAuth",
	"headersHelper":    "; use Options.HeaderFunc",
	"autoApprove":      noApproval,
	"auto_approve":     noApproval,
	"alwaysAllow":      noApproval,
	"trust":            noApproval,
}

// noApproval is the advice for keys with which users of other clients allow calls without approval.
const noApproval = "; policy.Approve decides which calls need approval"

// add decodes an entry and adds its server to the configuration.
func (c *Config) add(m member, x expander) error {
	var e entry
	errs := c.decode(m, &e)
	if len(errs) == 0 {
		errs = e.contradictions()
	}
	if len(errs) == 0 {
		x.disabled = e.off()
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

// decode decodes a server's entry into e and returns all errors. An unsupported key causes a warning.
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
				errs = append(errs, fmt.Errorf("%q %s", key.name, wrongType(err, target)))
			}
		}
	}
	return errs
}

// addUnknown records an unknown key and returns a warning.
func (e *entry) addUnknown(key string, known map[string]any) string {
	warning := fmt.Sprintf("%q is not supported and has no effect%s", key, alternatives[key])
	near := similar.Nearest(key, slices.Sorted(maps.Keys(known)))
	if near != "" && alternatives[key] == "" && near != key {
		e.unknown = append(e.unknown, fmt.Sprintf("; %q is unknown: did you mean %q?", key, near))
		warning += fmt.Sprintf("; did you mean %q?", near)
	}
	return warning
}

func (e *entry) off() bool { return e.disabled || e.enabled != nil && !*e.enabled }

// stdioType is the type of a server with a command.
const stdioType = "stdio"

// transports are the values of "type", in lower case and without separators.
var transports = map[string]string{
	"": "", "stdio": stdioType, "sse": web.SSE, "http": web.HTTP, "streamablehttp": web.HTTP, "streamable": web.HTTP,
}

// transport returns the transport that the entry names.
func (e *entry) transport() (name string, ok bool) {
	name, ok = transports[strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(e.kind))]
	return name, ok
}

func (e *entry) contradictions() (errs []error) {
	check := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	hasURL, hasCommand := e.url != "", e.command != ""
	kind, known := e.transport()
	check(!known, `"type" is %s, which is not supported; use stdio, http or sse`, e.kind)
	check(hasURL && hasCommand, `both "command" and a URL are given; keep one`)
	check(!hasURL && !hasCommand && !e.off(),
		`no "command" or "url"; add the command that starts the server, or its URL%s`, strings.Join(e.unknown, ""))
	check(hasURL != hasCommand && kind != "" && hasCommand != (kind == stdioType),
		`"type" is %s, which does not fit a server with a %s; remove it`,
		e.kind, map[bool]string{true: "command", false: "URL"}[hasCommand])
	check(e.timeout < 0, `"timeout" is negative; use a positive number of seconds`)
	for _, pattern := range slices.Concat(e.allow, e.deny) {
		_, err := pathpkg.Match(pattern, "")
		check(err != nil, "%q is not a valid pattern of tool names: %w", pattern, err)
	}
	return errs
}

func (e *entry) server(name string, x *expander) ServerConfig {
	s := ServerConfig{
		Name:        name,
		Command:     x.expand(e.command),
		Description: e.description,
		Dir:         x.path(e.cwd),
		URL:         x.expand(e.url),
		Headers:     x.all(e.headers),
		Timeout:     e.duration(),
		Allow:       e.allow,
		Deny:        e.deny,
		Disabled:    e.off(),
		Env:         x.envFile(e.envFile),
	}
	if s.URL != "" {
		s.Type, _ = e.transport()
	}
	for _, arg := range e.args {
		s.Args = append(s.Args, x.expand(string(arg)))
	}
	for key, value := range e.env {
		if value == nil {
			delete(s.Env, key)
		}
	}
	maps.Copy(s.Env, x.all(e.env))
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

// check returns the problems of the expanded values. It does not repeat the values, which may be secret.
func (c *ServerConfig) check(e *entry) (errs []error) {
	if c.Disabled {
		return nil
	}
	if e.url != "" {
		if _, err := web.ParseURL(c.URL); err != nil {
			errs = append(errs, fmt.Errorf(`"url" %w`, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if !headerName.MatchString(name) {
			errs = append(errs, fmt.Errorf("header name %q is invalid; correct it", name))
		}
		if strings.ContainsFunc(c.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			errs = append(errs, fmt.Errorf("header %q contains a control character; remove it", name))
		}
	}
	return errs
}

var looksLikeVariable = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)

// warnings describes the settings that have no effect, or may have an unintended effect.
func (e *entry) warnings() (list []string) {
	check := func(odd bool, format string, args ...any) {
		if odd {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	remote := e.url != ""
	check(e.timeout >= 1000 && e.timeout < 10_000,
		`"timeout" %v is read as milliseconds, not as seconds; write %v to make that clear`,
		e.timeout, e.duration().Seconds())
	check(remote && len(e.args)+len(e.env) > 0, `"args" and "env" have no effect on a server with a URL`)
	check(remote && e.cwd+e.envFile != "", `"cwd" and "envFile" have no effect on a server with a URL`)
	check(!remote && len(e.headers) > 0, `"headers" have no effect on a server with a command`)
	for _, values := range []map[string]*scalar{e.env, e.headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			check(value != nil && looksLikeVariable.MatchString(string(*value)),
				"the value of %q is used literally; to refer to a variable, write ${NAME}", name)
		}
	}
	return list
}
