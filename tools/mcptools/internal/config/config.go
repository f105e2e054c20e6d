// Package config reads the configuration files of MCP clients.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
	"github.com/writ-go/writ/signature/schema"
)

// The values of [Server.Type] for servers with a URL.
const (
	HTTP = "http"
	SSE  = "sse"
)

// Config is a configuration; see mcptools.Config.
type Config struct {
	Servers  []Server
	Warnings []string
}

// Server is an entry of a configuration. Its fields are those of mcptools.ServerConfig,
// which documents them.
type Server struct {
	Name        string
	Description string
	Command     string
	Args        []string
	Env         map[string]string
	Dir         string
	URL         string
	Type        string
	Headers     map[string]string
	Timeout     time.Duration
	Allow, Deny []string
	AutoApprove []string
	Disabled    bool
}

// Source is where the values of references come from.
type Source struct {
	// Lookup returns the value of an environment variable.
	Lookup func(name string) (string, bool)

	// Input returns the value of an input. It may be nil.
	Input func(Input) (string, bool)

	// Dir is the directory of the file; empty if there is no file.
	Dir string
}

// Parse reads a configuration; see mcptools.ParseConfig and mcptools.ReadConfig.
func Parse(data []byte, source Source) (*Config, error) {
	document, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	found, err := findServers(document)
	if err != nil {
		return nil, err
	}
	r := newResolver(source, found)
	var c Config
	if len(found.entries) == 0 {
		c.Warnings = append(c.Warnings,
			fmt.Sprintf("%q has no servers, so there are no tools; add one: %s", found.root, example))
	}
	var errs []error
	seen := map[string]bool{}
	for _, e := range found.entries {
		if seen[e.name] {
			errs = append(errs, fmt.Errorf("server %q is defined twice; rename or remove one", e.name))
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

// ParseURL parses the address of a server. Its errors do not repeat the address, which may
// contain secrets.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be an address that starts with http:// or https://")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// member is one member of a JSON object. A map would lose the order of the servers.
type member struct {
	name  string
	value json.RawMessage
}

// parseJSON returns the members of the document, without comments and trailing commas.
func parseJSON(data []byte) ([]member, error) {
	data = bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff"))) // Standardize modifies its input
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
		return nil, err // unreachable: the value has been parsed before
	}
	return members(v, what)
}

// roots are the keys under which clients keep their servers.
var roots = []string{"mcpServers", "servers", "context_servers"}

// mcpRoot is the key that holds the servers in opencode's settings. In the settings of other
// editors it holds one of the other roots.
const mcpRoot = "mcp"

// example is a minimal configuration for error messages.
const example = `{"mcpServers": {"name": {"command": "…"}}}`

// found holds the servers of a document.
type found struct {
	root    string // the key of the servers; empty if they are the whole document
	entries []member
	inputs  json.RawMessage
}

// findServers returns the entries under the root of the document, and its inputs.
func findServers(document []member) (f found, err error) {
	var root *member
	for i, m := range document {
		switch {
		case m.name == "inputs":
			f.inputs = m.value
		case m.name == "$schema":
		case !slices.Contains(roots, m.name):
			f.entries = append(f.entries, m)
		case root != nil:
			return found{}, fmt.Errorf("the configuration has both %q and %q; keep one", root.name, m.name)
		default:
			root = &document[i]
		}
	}
	if root == nil {
		return f.withoutRoot()
	}
	f.root = root.name
	f.entries, err = root.members(strconv.Quote(root.name))
	return f, err
}

// withoutRoot finds the servers of a document that has none of the roots.
func (f found) withoutRoot() (found, error) {
	if inner, whole := settings(f.entries); whole {
		return found{root: mcpRoot, entries: inner}, nil
	} else if inner != nil {
		return findServers(inner)
	}
	if err := misspelledRoot(f.entries); err != nil {
		return found{}, err
	}
	if len(f.entries) == 0 {
		return found{}, errors.New("the configuration has no servers; add one: " + example)
	}
	return f, nil
}

// misspelledRoot returns an error if a key resembles a root and its value holds servers.
func misspelledRoot(document []member) error {
	for _, m := range document {
		near := schema.Nearest(m.name, roots)
		if near == "" {
			continue
		}
		inner, err := m.members(m.name)
		if err == nil && !slices.ContainsFunc(inner, func(m member) bool { return m.value[0] != '{' }) {
			return fmt.Errorf("unknown key %q; did you mean %q?", m.name, near)
		}
	}
	return nil
}

// settings returns the value of "mcp" if it has a root, as in the settings of an editor, or
// if all its members are servers (whole), as in those of opencode.
func settings(document []member) (inner []member, whole bool) {
	i := slices.IndexFunc(document, func(m member) bool { return m.name == mcpRoot })
	if i < 0 {
		return nil, false
	}
	inner, err := document[i].members(mcpRoot)
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
