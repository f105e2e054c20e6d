package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

// warnOfPatterns logs which patterns fit no tool, once the first ones are known.
func (a *app) warnOfPatterns(ctx context.Context) {
	select {
	case <-a.catalog.ready:
	case <-ctx.Done():
		return
	}
	for _, w := range a.strayPatterns() {
		a.log.Warn(w)
	}
}

// strayPatterns are warnings about those patterns of the file of tokens that fit no
// tool that there is: neither of this server nor of those behind it.
func (a *app) strayPatterns() []string {
	if a.settings.tokens == "" {
		return nil
	}
	text, err := os.ReadFile(a.settings.tokens)
	if err != nil {
		return nil // it was readable when the server started
	}
	var file struct {
		Tokens []struct {
			Principal string   `json:"principal"`
			Tools     []string `json:"tools"`
		} `json:"tokens"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil // as above
	}
	var warnings []string
	for _, token := range file.Tokens {
		for _, pattern := range token.Tools {
			if warning := a.stray(pattern); warning != "" {
				warnings = append(warnings, fmt.Sprintf("-tokens: %s: %s", token.Principal, warning))
			}
		}
	}
	slices.Sort(warnings)
	return slices.Compact(warnings) // a principal may have several tokens
}

// stray says that a pattern fits no tool; "" if it fits one.
func (a *app) stray(pattern string) string {
	everything := a.catalog.everything()
	var names []string
	for _, t := range a.client(local).tools(everything) {
		names = append(names, t.Name)
	}
	own := serve.Principal{Tools: []string{pattern}}
	if slices.ContainsFunc(names, own.Allows) || len(allowed(everything.set, own.Tools).tools) > 0 {
		return ""
	}
	for _, b := range everything.set.Bindings() {
		names = append(names, b.Path())
	}
	text := fmt.Sprintf("%q fits no tool that there is now", pattern)
	if near := schema.Nearest(pattern, likened(names, pattern)); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// likened makes patterns of names, to be compared with one that ends in a star.
func likened(names []string, pattern string) []string {
	literal, _, open := strings.Cut(pattern, "*")
	if !open {
		return names
	}
	var list []string
	for _, name := range names {
		list = append(list, name[:min(len(name), len(literal))]+"*")
	}
	return list
}
