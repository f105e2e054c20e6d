package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
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

	// Allow names the only tools to take, Deny those to leave out, as patterns
	// of [path.Match]. Empty lists take all and leave out none.
	Allow, Deny []string

	// Disabled keeps the server from being started.
	Disabled bool

	// URL is the address of a remote server. Only stdio servers are supported
	// yet: such a server is reported as failed.
	URL string
}

// offers reports whether a tool is to be taken from the server.
func (c *ServerConfig) offers(tool string) bool {
	matches := func(pattern string) bool {
		ok, err := pathpkg.Match(pattern, tool)
		return ok || err != nil && pattern == tool
	}
	allowed := len(c.Allow) == 0 || slices.ContainsFunc(c.Allow, matches)
	return allowed && !slices.ContainsFunc(c.Deny, matches)
}

// ReadConfig reads a configuration file and expands its variables from the
// host's environment. A relative "cwd" is taken from the file's folder. Errors
// name the file; see [ParseConfig].
func ReadConfig(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`mcp configuration: %w; write {"mcpServers": {"name": {"command": "…"}}} there`, err)
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
// not set. Unknown keys are warnings. Lists of tools ("allowedTools",
// "includeTools", "disabledTools", "excludeTools") are heeded; "autoApprove" is
// not, since a file has no authority over what needs approval.
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
