package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// Config says which servers to start.
type Config struct {
	// Servers in the order of the file.
	Servers []ServerConfig

	// Warnings names what was in the file and had no effect.
	Warnings []string
}

// ServerConfig says how to start one server.
type ServerConfig struct {
	// Name is the namespace of the server's tools. It may be any text; a
	// [tools.Set] derives from it the name that programs use.
	Name string

	// Description says what the server is for.
	Description string

	// Command is the program to run: a path, or a name to be found in PATH.
	Command string

	// Args are its arguments.
	Args []string

	// Env is added to the minimal environment of [Options.Env], and takes
	// precedence over it.
	Env map[string]string

	// Dir is the folder in which to run; empty is the host's own.
	Dir string

	// Timeout bounds connecting, each listing and each call. Zero leaves
	// connecting and listing to [Options.ConnectTimeout], and calls to their
	// contexts.
	Timeout time.Duration

	// Disabled keeps the server from being started.
	Disabled bool

	// URL is the address of a remote server. Only stdio servers are supported
	// yet: such a server is reported as failed.
	URL string
}

// ReadConfig reads a configuration file and expands its variables from the
// host's environment. A relative "cwd" is taken from the file's folder. Errors
// name the file; see [ParseConfig].
func ReadConfig(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`mcp configuration %s does not exist; write {"mcpServers": {"name": {"command": "…"}}} there: %w`, path, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("mcp configuration: %w", err)
	}
	c, err := ParseConfig(data, os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("mcp configuration %s: %w", path, err)
	}
	for i, s := range c.Servers {
		if s.Dir != "" && !filepath.IsAbs(s.Dir) {
			c.Servers[i].Dir = filepath.Join(filepath.Dir(path), s.Dir)
		}
	}
	return c, nil
}

// roots are the keys under which clients keep their servers.
var roots = []string{"mcpServers", "servers", "context_servers"}

// ParseConfig reads a configuration: servers by name under "mcpServers",
// "servers" or "context_servers", or as the whole document. Comments and
// trailing commas are allowed. In command, args, env and cwd the references
// ${VAR}, ${env:VAR} and ${VAR:-default} are replaced by what lookup returns;
// nil looks nothing up.
//
// All that is wrong is returned as one error, each line with the entry's name:
// malformed JSON, no servers, a value of the wrong type, an entry that says
// neither how to start a server nor where it is, or both, a variable that is
// not set. Unknown keys are warnings.
func ParseConfig(data []byte, lookup func(string) (string, bool)) (*Config, error) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	document, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	entries, err := findServers(document)
	if err != nil {
		return nil, err
	}
	var c Config
	var errs []error
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.name] {
			errs = append(errs, fmt.Errorf("server %q is there twice; rename or remove one", e.name))
			continue
		}
		seen[e.name] = true
		errs = append(errs, c.add(e, lookup))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &c, nil
}

// member is one member of a JSON object. The order of servers is kept, which a
// map would lose.
type member struct {
	name  string
	value json.RawMessage
}

// parseJSON returns the members of the document, without comments and trailing
// commas.
func parseJSON(data []byte) ([]member, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	document, err := hujson.Parse(data)
	if err != nil {
		return nil, errors.New("malformed JSON: " + strings.TrimPrefix(err.Error(), "hujson: "))
	}
	document.Standardize()
	return members(document, "the configuration")
}

func members(v hujson.Value, what string) ([]member, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s must be an object, as in {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}", what)
	}
	list := make([]member, len(object.Members))
	for i, m := range object.Members {
		list[i] = member{m.Name.Value.(hujson.Literal).String(), bytes.TrimSpace(m.Value.Pack())}
	}
	return list, nil
}

// findServers returns the entries under the one root that is there.
func findServers(document []member) ([]member, error) {
	found, under := document, ""
	for _, m := range document {
		for _, root := range roots {
			switch {
			case m.name != root:
			case under != "":
				return nil, fmt.Errorf("both %q and %q are there; keep one", under, root)
			default:
				v, err := hujson.Parse(m.value)
				if err != nil {
					return nil, err
				}
				if found, err = members(v, fmt.Sprintf("%q", root)); err != nil {
					return nil, err
				}
				under = root
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New(`no servers; add one: {"mcpServers": {"name": {"command": "…"}}}`)
	}
	return found, nil
}

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
}

// keys are those of entry, and what only matters to a person at an editor.
var keys = map[string]bool{
	"type": true, "command": true, "args": true, "env": true, "cwd": true,
	"url": true, "serverUrl": true, "httpUrl": true, "headers": true,
	"disabled": true, "timeout": true, "description": true,
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
