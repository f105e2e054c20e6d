package codemode

import (
	"context"
	"fmt"
	"slices"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// warnOfPatterns waits until the first tools are known, and logs the patterns of principals that match no tool.
func (s *Server) warnOfPatterns(ctx context.Context, auth *serve.Auth) {
	select {
	case <-s.catalog.ready:
	case <-ctx.Done():
		return
	}
	for _, w := range s.strayPatterns(auth) {
		s.log.Warn(w)
	}
}

// strayPatterns returns warnings about principals' patterns that match neither a tool of this server nor a tool that
// programs can call.
func (s *Server) strayPatterns(auth *serve.Auth) []string {
	var warnings []string
	for principal, patterns := range auth.Patterns() {
		if warning := s.powerless(patterns); warning != "" {
			warnings = append(warnings, fmt.Sprintf("principal %s: %s", principal, warning))
		}
		for _, pattern := range patterns {
			if warning := s.stray(pattern); warning != "" {
				warnings = append(warnings, fmt.Sprintf("principal %s: %s", principal, warning))
			}
		}
	}
	slices.Sort(warnings)
	return slices.Compact(warnings)
}

// powerless returns a warning if the patterns allow no tool of this server, or no tool that programs can call.
func (s *Server) powerless(patterns []string) string {
	p, set := serve.Principal{Name: "any", Tools: patterns}, s.catalog.everything().set
	switch {
	case len(patterns) == 0: // the principal may deliberately use no tools
	case !slices.ContainsFunc(s.allTools(), func(t tool) bool { return p.Allows(t.Name) }):
		return "no pattern allows a tool of this server, such as execute_code"
	case p.Allows("execute_code") && set.Len() > 0 && len(allowed(set, patterns).tools) == 0:
		return "no pattern allows a tool that programs can call, such as " + set.Bindings()[0].Path()
	}
	return ""
}

// stray returns a warning if a pattern matches no tool; otherwise, it returns "".
func (s *Server) stray(pattern string) string {
	everything := s.catalog.everything()
	var names []string
	for _, t := range s.allTools() {
		names = append(names, t.Name)
	}
	own := serve.Principal{Name: "any", Tools: []string{pattern}}
	if slices.ContainsFunc(names, own.Allows) || len(allowed(everything.set, own.Tools).tools) > 0 {
		return ""
	}
	for _, b := range everything.set.Bindings() {
		names = append(names, b.Path())
	}
	return fmt.Sprintf("%q matches no current tool", pattern) + didYouMean(pattern, names)
}
