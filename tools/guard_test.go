package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
)

// watched is a policy that guards some tools.
type watched struct{ paths []string }

func (w watched) Call(context.Context, tools.Call) (json.RawMessage, error) { return nil, nil }
func (w watched) Guards(b *tools.Binding) bool {
	return slices.Contains(w.paths,
		b.Path())
}

func watch(paths ...string) tools.Policy {
	return func(tools.Caller) tools.Caller { return watched{paths} }
}

func TestUnguardedTools(t *testing.T) {
	t.Parallel()
	var sources []tools.Source
	for i := range 8 {
		sources = append(sources, &tools.Tool{Namespace: "s", Name: fmt.Sprintf("t%d", i), Handler: handler("1", nil),
			Hints: tools.Hints{Destructive: i > 0}})
	}
	set := newSet(t, sources...)
	const before, after = "destructive tools can be called without approval: ",
		"; add policy.Approve to the set, or policy.AllowDestructive if that is intended"
	for _, test := range []struct {
		set  *tools.Set
		want string
	}{
		{set, before + "s.t1, s.t2, s.t3, s.t4, s.t5, 2 more" + after},
		{set.With(watch("s.t1", "s.t6")), before + "s.t2, s.t3, s.t4, s.t5, s.t7" + after},
		{set.With(watch("s.t1", "s.t2", "s.t3"), passing, watch("s.t4", "s.t5", "s.t6")), before + "s.t7" + after},
	} {
		if got := test.set.Warnings(); len(got) != 1 || got[0] != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
	all := watch("s.t1", "s.t2", "s.t3", "s.t4", "s.t5", "s.t6", "s.t7")
	if got := set.With(all, nil).Warnings(); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	if got := set.With(watch("s.t0")).Warnings(); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// warning is a source that has warnings only after it has been listed.
type warning struct{ listed bool }

func (w *warning) Tools(context.Context) ([]*tools.Tool, error) {
	w.listed = true
	return nil, nil
}

func (w *warning) Warnings() []string {
	if !w.listed {
		return []string{"not listed yet"}
	}
	return []string{"a tool was left out"}
}

func TestSetHasTheWarningsOfItsSources(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), &warning{}, &warning{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(set.Warnings(), "\n"); got != "a tool was left out\na tool was left out" {
		t.Errorf("warnings: %q", got)
	}
}

// passing is a policy that guards nothing.
func passing(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) { return next.Call(ctx, c) })
}

// A warning is logged once for a set and for the sets that are made from it.
func TestLogWarnings(t *testing.T) {
	t.Parallel()
	drop := func(name string) tools.Source {
		return tools.Func(name, "", func(context.Context, struct{}) (bool, error) { return true, nil },
			&tools.Hints{Destructive: true})
	}
	set, err := tools.NewSet(t.Context(), drop("drop"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := set.Plus(drop("erase").(*tools.Tool))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for range 2 {
		for _, s := range []*tools.Set{set, set.With(), more, nil, (&tools.Set{}).With()} {
			s.LogWarnings(logger)
		}
	}
	if n := strings.Count(log.String(), "without approval: drop;"); n != 1 || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("logged %s", log.String())
	}
}
