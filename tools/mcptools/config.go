package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
	"github.com/writ-go/writ/signature/schema"
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

	// URL is the address of a remote server, in place of Command.
	URL string

	// Type is how a remote server is spoken to: "http" for streamable HTTP,
	// "sse" for its predecessor. Either is tried if it is empty, and the
	// predecessor if a server at a URL of type "http" says that it does not
	// serve that.
	Type string

	// Headers go with every request to URL, and nowhere else. Those of the
	// protocol itself cannot be replaced.
	Headers map[string]string

	// Timeout bounds connecting, each listing and each call. Zero leaves
	// connecting and listing to [Options.ConnectTimeout], and calls to their
	// contexts.
	Timeout time.Duration

	// Allow names the only tools to take, Deny those to leave out, as patterns
	// of [path.Match] in which * also stands for a slash. Empty lists take all
	// and leave out none.
	Allow, Deny []string

	// AutoApprove are patterns of tools that need no approval, according to the
	// file. It has no effect unless [Options.AllowAutoApprove] is set.
	AutoApprove []string

	// Disabled keeps the server from being started.
	Disabled bool

	keys map[listed]string // under which patterns stand in the file
}

// listed is a pattern of Allow, or of Deny.
type listed struct {
	pattern string
	deny    bool
}

// unmatched says which patterns match no tool of the server. There may be a
// typing error in them, and with it a tool that was to be left out.
func (c *ServerConfig) unmatched(all []string) (list []string) {
	for i, pattern := range slices.Concat(c.Allow, c.Deny) {
		if slices.ContainsFunc(all, func(tool string) bool { return matchesAny([]string{pattern}, tool) }) {
			continue
		}
		deny := i >= len(c.Allow)
		key := c.keys[listed{pattern, deny}]
		switch {
		case key == "" && deny:
			key = "Deny"
		case key == "":
			key = "Allow"
		}
		text := fmt.Sprintf("pattern %q in %q matches no tool of the server", pattern, key)
		if near := schema.Nearest(pattern, all); near != "" {
			text += fmt.Sprintf(" (did you mean %q?)", near)
		}
		list = append(list, text)
	}
	return list
}

// offers reports whether a tool is to be taken from the server.
func (c *ServerConfig) offers(tool string) bool {
	return (len(c.Allow) == 0 || matchesAny(c.Allow, tool)) && !matchesAny(c.Deny, tool)
}

// ReadConfig reads a configuration file and expands its variables from the
// host's environment; nil Options are all defaults. Relative "cwd" and "envFile"
// are taken from the file's folder. Beside what [ParseConfig] knows,
//
//   - ${input:id} is what [Options.Input] answers, the variable INPUT_ID, or the
//     input's default;
//   - ${workspaceFolder} is the file's folder, or the one above if its name
//     starts with a dot, as .vscode does; ${workspaceFolderBasename} its name;
//   - ${userHome}, ${cwd}, ${pathSeparator} and ${/} are those of this process;
//   - "envFile" names a file of NAME=value lines that are added to "env", which
//     takes precedence.
//
// Errors name the file; see [ParseConfig].
func ReadConfig(path string, o *Options) (*Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`mcp configuration: %w; write {"mcpServers": {"name": {"command": "…"}}} there`, err)
	}
	if err != nil {
		return nil, fmt.Errorf("mcp configuration: %w", err)
	}
	folder := filepath.Dir(path)
	c, err := parseConfig(data, &reader{
		lookup: os.LookupEnv,
		input:  o.withDefaults().Input,
		known:  wellKnown(folder),
		folder: folder,
	})
	if err != nil {
		return nil, fmt.Errorf("mcp configuration %s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads a configuration: servers by name under "mcpServers",
// "servers", "context_servers" or "mcp", or as the whole document. Comments and
// trailing commas are allowed. In command, args, env, cwd, url and headers the
// references ${VAR}, ${env:VAR} and ${VAR:-default} are replaced by what lookup
// returns; nil looks nothing up. For ${input:id} it is asked for "input:id" and
// "INPUT_ID". Under "mcp", where opencode keeps its servers, {env:VAR} works too.
//
// All that is wrong is returned as one error, each line with the entry's name:
// malformed JSON, no key for servers, a value of the wrong type, an entry that says
// neither how to start a server nor where it is, or both, a variable that is
// not set. Unknown keys are warnings. The package's documentation has the keys.
func ParseConfig(data []byte, lookup func(string) (string, bool)) (*Config, error) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	return parseConfig(data, &reader{
		lookup: lookup,
		input:  func(i Input) (string, bool) { return lookup("input:" + i.ID) },
	})
}

// reader is what a configuration is read with.
type reader struct {
	lookup func(string) (string, bool) // the environment
	input  func(Input) (string, bool)  // nil has no answers
	known  map[string]string           // references that are no variables
	folder string                      // of the file; empty if there is none
	braces bool                        // {env:VAR} is a reference, as in opencode
	inputs map[string]*asked           // of the file, by id
}

func parseConfig(data []byte, r *reader) (*Config, error) {
	document, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	found, err := findServers(document)
	if err != nil {
		return nil, err
	}
	r.inputs, r.braces = inputsIn(found.inputs), found.root == opencodeRoot
	var c Config
	if len(found.entries) == 0 {
		c.Warnings = append(c.Warnings,
			fmt.Sprintf("%q has no servers, so there are no tools; add one: %s", found.root, example))
	}
	var errs []error
	seen := map[string]bool{}
	for _, e := range found.entries {
		if seen[e.name] {
			errs = append(errs, fmt.Errorf("server %q is there twice; rename or remove one", e.name))
			continue
		}
		seen[e.name] = true
		errs = append(errs, c.add(e, r))
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
	data = bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff"))) // Standardize writes into what it was given
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
		return nil, fmt.Errorf("%s must be an object, as in %s", what, example)
	}
	list := make([]member, len(object.Members))
	for i, m := range object.Members {
		list[i] = member{m.Name.Value.(hujson.Literal).String(), bytes.TrimSpace(m.Value.Pack())}
	}
	return list, nil
}

func (m *member) members(what string) ([]member, error) {
	v, err := hujson.Parse(m.value)
	if err != nil {
		return nil, err // unreachable: it is part of what has been parsed
	}
	return members(v, what)
}

// roots are the keys under which clients keep their servers.
var roots = []string{"mcpServers", "servers", "context_servers"}

// opencodeRoot is the key under which opencode does, among other settings. Others have
// roots of their own there.
const opencodeRoot = "mcp"

// example is how a configuration may look.
const example = `{"mcpServers": {"name": {"command": "…"}}}`

// found are the servers of a document.
type found struct {
	root    string // the key that they are under; empty if they are the document
	entries []member
	inputs  json.RawMessage
}

// findServers returns the entries under the one root that is there, and the
// inputs beside them.
func findServers(document []member) (f found, err error) {
	var under *member
	for i, m := range document {
		switch {
		case m.name == "inputs":
			f.inputs = m.value
		case m.name == "$schema":
		case !slices.Contains(roots, m.name):
			f.entries = append(f.entries, m)
		case under != nil:
			return found{}, fmt.Errorf("both %q and %q are there; keep one", under.name, m.name)
		default:
			under = &document[i]
		}
	}
	if under == nil {
		return f.withoutRoot()
	}
	f.root = under.name
	f.entries, err = under.members(strconv.Quote(under.name))
	return f, err
}

// withoutRoot finds the servers of a document that has none of the roots.
func (f found) withoutRoot() (found, error) {
	if inner, whole := settings(f.entries); whole {
		return found{root: opencodeRoot, entries: inner}, nil
	} else if inner != nil {
		return findServers(inner)
	}
	if err := misspelt(f.entries); err != nil {
		return found{}, err
	}
	if len(f.entries) == 0 {
		return found{}, errors.New("no servers; add one: " + example)
	}
	return f, nil
}

// misspelt finds a root that was meant: what looks like one by its name, and
// holds servers rather than being one.
func misspelt(document []member) error {
	for _, m := range document {
		near := schema.Nearest(m.name, roots)
		if near == "" {
			continue
		}
		inner, err := m.members(m.name)
		if err == nil && !slices.ContainsFunc(inner, func(m member) bool { return m.value[0] != '{' }) {
			return fmt.Errorf("%q is no key for servers; did you mean %q?", m.name, near)
		}
	}
	return nil
}

// settings returns what stands under "mcp" in an editor's settings, if it has roots
// of its own, or in those of opencode, where it is all servers.
func settings(document []member) (inner []member, whole bool) {
	i := slices.IndexFunc(document, func(m member) bool { return m.name == opencodeRoot })
	if i < 0 {
		return nil, false
	}
	inner, err := document[i].members(opencodeRoot)
	switch {
	case err != nil:
		return nil, false
	case slices.ContainsFunc(inner, func(m member) bool { return slices.Contains(roots, m.name) }):
		return inner, false
	case slices.ContainsFunc(inner, func(m member) bool { return !m.isServer() }):
		return nil, false
	}
	return inner, true
}

// isServer reports whether a member looks like the entry of a server.
func (m *member) isServer() bool {
	fields, err := m.members(m.name)
	return err == nil && slices.ContainsFunc(fields, func(f member) bool {
		return slices.Contains([]string{"type", "command", "url", "enabled"}, f.name)
	})
}
