// Package config reads the configuration files of MCP clients.
package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
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
	Disabled    bool
}

// Source is where the values of references come from.
type Source struct {
	// Lookup returns the value of an environment variable.
	Lookup func(name string) (string, bool)

	// Dir is the directory of the file; empty if there is no file.
	Dir string
}

// Parse reads a configuration; see mcptools.ParseConfig and mcptools.ReadConfig.
func Parse(data []byte, source Source) (*Config, error) {
	document, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	root, servers, err := findServers(document)
	if err != nil {
		return nil, err
	}
	x := newExpander(source, root)
	var c Config
	if len(servers) == 0 {
		c.Warnings = append(c.Warnings,
			fmt.Sprintf("%q has no servers, so there are no tools; add one: %s", root, example))
	}
	var errs []error
	seen := map[string]bool{}
	for _, e := range servers {
		if seen[e.name] {
			errs = append(errs, fmt.Errorf("server %q is defined twice; rename or remove one", e.name))
			continue
		}
		seen[e.name] = true
		errs = append(errs, c.add(e, *x))
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
	data, err := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff")))) // it modifies its input
	if err != nil {
		return nil, errors.New("malformed JSON: " + strings.TrimPrefix(err.Error(), "hujson: "))
	}
	document := member{value: data}
	return document.members("the configuration")
}

func (m *member) members(what string) (list []member, err error) {
	if jsonvalue.Type(m.value) != "object" {
		return nil, fmt.Errorf("%s must be an object, as in %s", what, example)
	}
	for name, value := range jsonscan.Members(m.value) {
		list = append(list, member{string(name), value})
	}
	return list, nil
}

// roots are the keys under which clients keep their servers.
var roots = []string{"mcpServers", "servers", "context_servers"}

// mcpRoot holds the servers in opencode's settings. In the settings of other editors it holds another root.
const mcpRoot = "mcp"

// example is a minimal configuration for error messages.
const example = `{"mcpServers": {"name": {"command": "…"}}}`

// findServers returns the members under the root of the document, and its name.
func findServers(document []member) (root string, servers []member, err error) {
	var found *member
	hint := ""
	for i, m := range document {
		switch isRoot := slices.Contains(roots, m.name); {
		case isRoot && found != nil && found.name != mcpRoot:
			return "", nil, fmt.Errorf("the configuration has both %q and %q; keep one", found.name, m.name)
		case isRoot, m.name == mcpRoot && found == nil:
			found = &document[i]
		default:
			if near := similar.Nearest(m.name, roots); near != "" && near != m.name {
				hint = fmt.Sprintf("unknown key %q; did you mean %q?", m.name, near)
			}
		}
	}
	if found == nil {
		return "", nil, errors.New(cmp.Or(hint, "the configuration has no servers; put them under one key: "+example))
	}
	servers, err = found.members(strconv.Quote(found.name))
	isRoot := func(m member) bool { return slices.Contains(roots, m.name) }
	if found.name == mcpRoot && slices.ContainsFunc(servers, isRoot) {
		return findServers(servers)
	}
	return found.name, servers, err
}
