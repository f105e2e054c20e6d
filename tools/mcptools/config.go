package mcptools

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/similar"
)

// Config lists the servers to start.
type Config struct {
	// Servers are in the order of the file.
	Servers []ServerConfig

	// Warnings describe the parts of the file that have no effect.
	Warnings []string
}

// ServerConfig describes how to start or reach one server.
type ServerConfig struct {
	// Name is the namespace of the server's tools. It may be any string; a
	// [tools.Set] derives from it the name that programs use.
	Name string

	// Description says what the server is for.
	Description string

	// Command is the program to run: a path, or a name to look up in PATH.
	Command string

	// Args are Command's arguments.
	Args []string

	// Env is added to the minimal environment of [Options.Env] and takes
	// precedence over it.
	Env map[string]string

	// Dir is the working directory of the server. Empty means the working directory of the host.
	Dir string

	// URL is a remote server's address. It replaces Command.
	URL string

	// Type is the transport of a remote server: "http" for streamable HTTP, "sse"
	// for its predecessor. If it is empty, both are tried.
	Type string

	// Headers are sent with every request to URL, and to no other origin. They cannot replace the protocol's headers.
	Headers map[string]string

	// Timeout bounds connecting, each listing and each call. If it is zero,
	// [Options.ConnectTimeout] bounds connecting and listing, and only the
	// context bounds a call.
	Timeout time.Duration

	// Allow selects the tools to use, and Deny the tools to leave out, as patterns of
	// [path.Match] in which * also matches a slash. An empty Allow selects all tools.
	Allow, Deny []string

	// Disabled keeps the server from being started.
	Disabled bool
}

// ReadConfig reads a configuration file and expands its references from the host's environment. Relative paths in "cwd"
// and "envFile" are resolved relative to the file's directory. In addition to what [ParseConfig] supports,
//
//   - ${workspaceFolder} is the file's directory, or the parent of a directory whose name starts
//     with a dot, like .vscode; ${workspaceFolderBasename} is the name of the workspace folder;
//   - ${userHome} is the home directory of the user;
//   - "envFile" names a file of NAME=value lines that are added to "env", which takes precedence.
//
// Errors name the file; see [ParseConfig].
func ReadConfig(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`mcp configuration: %w; create it with {"mcpServers": {"name": {"command": "…"}}}`,
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("mcp configuration: %w", err)
	}
	dir := filepath.Dir(path)
	c, err := parseConfig(data, expander{lookup: os.LookupEnv, dir: dir, known: editorVariables(dir)})
	if err != nil {
		return nil, fmt.Errorf("mcp configuration %s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads a configuration: servers by name under "mcpServers", "servers" or "context_servers". Comments and
// trailing commas are allowed. In command, args, env, cwd, url and headers, the references ${VAR}, ${env:VAR} and
// ${VAR:-default} are replaced by the values that lookup returns. If lookup is nil, no variable is set. A reference
// ${input:id}, for which VS Code asks its user, is an error: use an environment variable.
//
// The error lists all problems, each on a line with the server's name: malformed JSON, no key for servers, a value with
// the wrong type, an entry with neither a command nor a URL, or with both, a variable that is not set. Unknown keys
// cause warnings. The package's documentation lists the keys.
func ParseConfig(data []byte, lookup func(string) (string, bool)) (*Config, error) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	return parseConfig(data, expander{lookup: lookup})
}

// warnings returns the warnings of the configuration, and a warning if all servers are disabled.
func (c *Config) warnings() []string {
	list := slices.Clone(c.Warnings)
	if len(c.Servers) > 0 && !slices.ContainsFunc(c.Servers, func(s ServerConfig) bool { return !s.Disabled }) {
		list = append(list, "all mcp servers are disabled, so there are no tools; enable one in the configuration")
	}
	return list
}

// offers reports whether programs may use a tool on the server.
func (c *ServerConfig) offers(tool string) bool {
	return (len(c.Allow) == 0 || matchesAny(c.Allow, tool)) && !matchesAny(c.Deny, tool)
}

// unmatched returns a warning for each pattern that matches no tool on the server. If such a pattern is misspelled, a
// tool may be offered although it should be left out.
func (c *ServerConfig) unmatched(all []string) (list []string) {
	for i, pattern := range slices.Concat(c.Allow, c.Deny) {
		if slices.ContainsFunc(all, func(tool string) bool { return matchesAny([]string{pattern}, tool) }) {
			continue
		}
		kind := "allowed"
		if i >= len(c.Allow) {
			kind = "denied"
		}
		text := fmt.Sprintf("the pattern %q of %s tools matches no tool of the server", pattern, kind)
		if near := similar.Nearest(pattern, all); near != "" {
			text += fmt.Sprintf(" (did you mean %q?)", near)
		}
		list = append(list, text)
	}
	return list
}

// matchesAny reports whether one of the patterns matches a tool's name.
func matchesAny(patterns []string, tool string) bool {
	// In package path, * does not match a slash.
	flat := func(name string) string { return strings.ReplaceAll(name, "/", "\x00") }
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := pathpkg.Match(flat(pattern), flat(tool))
		return ok || err != nil && pattern == tool
	})
}

// plainConfig is a ServerConfig without its String method.
type plainConfig ServerConfig

// String returns the configuration without the parts that may be secret: the values in Env and Headers, URL and Args.
func (c ServerConfig) String() string {
	c.Env, c.Headers = hideValues(c.Env), hideValues(c.Headers)
	if c.URL != "" {
		c.URL = "[hidden]"
	}
	if len(c.Args) > 0 {
		c.Args = []string{fmt.Sprintf("[%d hidden]", len(c.Args))}
	}
	return fmt.Sprintf("%+v", plainConfig(c))
}

// GoString returns c.String, for %#v.
func (c ServerConfig) GoString() string { return c.String() }

// LogValue returns c.String, for package slog.
func (c ServerConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

func hideValues(values map[string]string) map[string]string {
	values = maps.Clone(values)
	for name := range values {
		values[name] = "[hidden]"
	}
	return values
}
