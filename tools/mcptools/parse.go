package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
)

func parseConfig(data []byte, x expander) (*Config, error) {
	document, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	root, servers, err := findServers(document)
	if err != nil {
		return nil, err
	}
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
		errs = append(errs, c.add(e, x))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &c, nil
}

// member is one member of a JSON object. A map would lose the order of the servers.
type member struct {
	name  string
	value json.RawMessage
}

// parseJSON returns the document's members, without comments and trailing commas.
func parseJSON(data []byte) ([]member, error) {
	data = bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff"))) // Standardize modifies its input
	data, err := hujson.Standardize(data)
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

// roots are the keys under which MCP clients keep their servers.
var roots = []string{"mcpServers", "servers", "context_servers"}

// example is a minimal configuration for error messages.
const example = `{"mcpServers": {"name": {"command": "…"}}}`

// findServers returns the root's name in the document, and the members under it.
func findServers(document []member) (root string, servers []member, err error) {
	var found *member
	problem := "the configuration has no servers; add them, as in " + example
	for i, m := range document {
		switch isRoot := slices.Contains(roots, m.name); {
		case isRoot && found != nil:
			return "", nil, fmt.Errorf("the configuration has both %q and %q; keep one", found.name, m.name)
		case isRoot:
			found = &document[i]
		default:
			if near := similar.Nearest(m.name, roots); near != "" && near != m.name {
				problem = fmt.Sprintf("unknown key %q; did you mean %q?", m.name, near)
			}
		}
	}
	if found == nil {
		return "", nil, errors.New(problem)
	}
	servers, err = found.members(strconv.Quote(found.name))
	return found.name, servers, err
}
