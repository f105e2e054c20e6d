package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/policy"
	"github.com/writ-go/writ/tools/search"
)

// view is the part of a snapshot that one principal may use.
type view struct {
	set       *tools.Set
	programs  *tools.Set    // the set with tools.search and tools.describe
	leftOut   []error       // why saved programs are not part of the set
	discovery *search.Index // for search_tools and describe_tool

	mu       sync.Mutex
	declared map[int]string // declarations by budget
}

// declarations returns the tool declarations within a token budget. It caches them, because declaring thousands of
// tools takes up to a second.
func (v *view) declarations(budget int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	text, ok := v.declared[budget]
	if !ok {
		text = declare.Markdown(v.set, budget)
		v.declared[budget] = text
	}
	return text
}

// maxViews is the maximum number of views that a snapshot caches.
const maxViews = 64

// maxDescribed is the approximate maximum size, in bytes, of a result from describe_tool or tools.describe.
const maxDescribed = 32 << 10

// view returns the tools that a principal may use. The view contains no other tools. In addition, a policy refuses
// calls to tools that do not match the principal's patterns.
func (s *snapshot) view(p serve.Principal) (*view, error) {
	patterns, all := p.Tools, p.Tools == nil && p.Name != ""
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%q", patterns)
	if all {
		key = ""
	}
	if v := s.views[key]; v != nil {
		return v, nil
	}
	set, err := s.set(patterns, all)
	if err != nil {
		return nil, err
	}
	set, leftOut := s.saved(set)
	may := policy.Allow(policy.Tools(patterns...), "")
	set = set.Only(func(b *tools.Binding) bool { return all || permits(may, b) })
	index := search.New(set, maxDescribed).ByMeaning(s.meaning, s.log)
	v := &view{
		set: set, programs: index.Extended(), discovery: index.SearchedBy("search_tools"),
		declared: map[int]string{}, leftOut: leftOut,
	}
	if s.views == nil {
		s.views = map[string]*view{}
	}
	evict(s.views, maxViews)
	s.views[key] = v
	return v, nil
}

// set returns all tools, or those that match the patterns.
func (s *snapshot) set(patterns []string, all bool) (*tools.Set, error) {
	// Only the warnings of the sources: the new set repeats the warnings about policies and destructive tools.
	own := source{warnings: s.own.WithPoliciesOf(nil).With(policy.AllowDestructive).Warnings()}
	for _, b := range s.own.Bindings() {
		own.tools = append(own.tools, b.Tool)
	}
	set, err := tools.NewSet(context.Background(), own, s.listed)
	if err != nil {
		return nil, err
	}
	if !all {
		if set, err = tools.NewSet(context.Background(), allowed(set, patterns)); err != nil {
			return nil, err
		}
	}
	set = set.WithPoliciesOf(s.own).With(func(next tools.Caller) tools.Caller { return foreign{next, own.tools} })
	if !all {
		set = set.With(policy.Allow(policy.Tools(patterns...), ""))
	}
	if s.guard != nil {
		set = set.With(s.guard)
	}
	return set, nil
}

// foreign is a policy that lets programs call the tools of MCP servers without approval: the host does not know
// these tools, so clients ask their users for permission. The host's own tools need [policy.Approve] or
// [policy.AllowDestructive].
type foreign struct {
	tools.Caller
	own []*tools.Tool
}

// Guards is for [tools.Policy.Guards].
func (f foreign) Guards(b *tools.Binding) bool { return !slices.Contains(f.own, b.Tool) }

// source is a tool list that implements tools.Source.
type source struct {
	tools    []*tools.Tool
	warnings []string
}

// Tools implements [tools.Source].
func (s source) Tools(context.Context) ([]*tools.Tool, error) { return s.tools, nil }

// Warnings returns warnings, which become warnings of the set.
func (s source) Warnings() []string { return s.warnings }

func (s source) equal(other source) bool {
	return slices.Equal(s.tools, other.tools) && slices.Equal(s.warnings, other.warnings)
}

// allowed returns the tools in a set that match the patterns.
func allowed(set *tools.Set, patterns []string) source {
	may := policy.Allow(policy.Tools(patterns...), "")
	var list source
	for _, b := range set.Bindings() {
		if permits(may, b) {
			list.tools = append(list.tools, b.Tool)
		}
	}
	return list
}

// permits reports whether a policy allows a tool call. It does not make the call.
func permits(p tools.Policy, b *tools.Binding) bool {
	reached := false
	_, err := p(tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) {
		reached = true
		return nil, nil
	})).Call(context.Background(), tools.Call{Tool: b, Args: json.RawMessage("{}")})
	return reached && err == nil
}
