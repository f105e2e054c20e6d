package module

import (
	"context"
	"reflect"
	"strings"
)

// scope is what a context says about runs: who observes them, and which one is under way.
type scope struct {
	tell   func(context.Context, Event) // nil if nobody observes
	deltas bool                         // somebody wants them
	run    *recorder                    // the run under way, or nil
	paths  map[*Predictor]string        // of the predictors of the module that is run
}

type scopeKey struct{}

func scopeOf(ctx context.Context) scope {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return *s
	}
	return scope{}
}

func (s scope) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, &s)
}

// Observe returns a context within which f is told what happens in every run of every
// module, also of those that a module runs itself. The context that f gets is that of the
// run. An observer that ctx has already is told as well.
//
// Calls of f may be concurrent, and the run waits for them. If f panics, the run ends.
// [net/http/httptrace] does the same for HTTP.
func Observe(ctx context.Context, f func(context.Context, Event)) context.Context {
	s := scopeOf(ctx)
	s.tell = both(s.tell, f)
	return s.in(ctx)
}

// both returns an observer that calls f and then g. Either may be nil.
func both(f, g func(context.Context, Event)) func(context.Context, Event) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(ctx context.Context, e Event) { f(ctx, e); g(ctx, e) }
}

// named returns the scope of a run of m, in which the predictors have their paths within
// m. Those of an enclosing module keep the paths that they have there; m may be a copy of
// one of its parts, made of original.
func (s scope) named(m, original any) scope {
	outer := s.paths
	s.paths = make(map[*Predictor]string, len(outer))
	for p, path := range outer {
		s.paths[p] = path
	}
	were := map[string]*Predictor{}
	if original != nil {
		for path, p := range Predictors(original) {
			were[path] = p
		}
	}
	for path, p := range Predictors(m) {
		if known, ok := outer[were[path]]; ok {
			path = known
		}
		if _, ok := s.paths[p]; !ok {
			s.paths[p] = path
		}
	}
	return s
}

// pathOf is the path of a module within the one that is run; "" if it is that one, or no
// part of it.
func (s scope) pathOf(m any) string {
	for path, p := range Predictors(m) {
		known := s.paths[p]
		if path == ownField && known != ownField {
			return known
		}
		name, _ := strings.CutSuffix(known, "."+path)
		if name == known {
			return ""
		}
		return name
	}
	return ""
}

// nameOf is what a module is called that has no other name: that of its type.
func nameOf(m any) string {
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}
