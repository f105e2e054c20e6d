package mcptools

import (
	"fmt"
	"maps"
	pathpkg "path"
	"slices"
	"strings"
)

// AutoApproved reports whether the configuration says that a tool need not be
// approved. Both names are those of the configuration and the server: the
// Namespace and Name of a [tools.Tool]. It is false unless
// [Options.AllowAutoApprove] is set.
func (s *Servers) AutoApproved(name, tool string) bool {
	return slices.ContainsFunc(s.servers, func(srv *server) bool {
		return srv.name == name && srv.o.AllowAutoApprove && matchesAny(srv.config.AutoApprove, tool)
	})
}

// matchesAny reports whether one of the patterns matches a tool's name.
func matchesAny(patterns []string, tool string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := pathpkg.Match(flat(pattern), flat(tool))
		return ok || err != nil && pattern == tool
	})
}

// flat takes from the slash the meaning that it has in a path: "*" is every
// tool, also a/b.
func flat(name string) string { return strings.ReplaceAll(name, "/", "\x00") }

// unheeded warns of what the file or the host says and has no effect.
func unheeded(c *Config, o *Options) []string {
	var warnings []string
	for _, s := range c.Servers {
		if len(s.AutoApprove) > 0 && !s.Disabled && !o.AllowAutoApprove {
			warnings = append(warnings, fmt.Sprintf("mcp server %q: that its tools need no approval has no effect, since a file is no authority; the host may set Options.AllowAutoApprove", s.Name))
		}
	}
	if len(c.Servers) > 0 && !slices.ContainsFunc(c.Servers, func(s ServerConfig) bool { return !s.Disabled }) {
		warnings = append(warnings, "all mcp servers are disabled, so that there are no tools; enable one in the configuration")
	}
	for _, name := range slices.Sorted(maps.Keys(o.OAuth)) {
		if !slices.ContainsFunc(c.Servers, func(s ServerConfig) bool { return s.Name == name }) {
			warnings = append(warnings, fmt.Sprintf("OAuth is given for %q, but there is no mcp server of that name", name))
		}
	}
	return warnings
}
