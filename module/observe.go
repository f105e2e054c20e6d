package module

import (
	"context"
	"maps"
	"strings"

	"github.com/writ-go/writ/module/event"
)

// scope is what a context holds about runs: their observers, and the run in progress.
type scope struct {
	tell   func(context.Context, event.Event) // nil if there is no observer
	deltas bool                               // an observer wants TextDelta events
	live   *live                              // the reply that a stream reads, or nil
	run    *recorder                          // the run in progress, or nil
	paths  map[*Predictor]string              // the paths of the predictors in the module that runs
	asks   *Predictor                         // the predictor of the run in progress, or nil
	tool   string                             // the Tool that the next run is made for, or ""
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

// Observe returns a copy of ctx in which f is called for the events of all runs of all modules, including the runs that
// modules make. The context that f receives is the run's. Observers that ctx already has are called as well.
//
// Calls to f may be concurrent, and the run waits for them. If f panics, the run ends. Package [net/http/httptrace]
// works like this for HTTP.
func Observe(ctx context.Context, f func(context.Context, event.Event)) context.Context {
	s := scopeOf(ctx)
	s.tell = both(s.tell, f)
	return s.in(ctx)
}

// both returns an observer that calls f and then g, even if f panics. Either may be nil.
func both(f, g func(context.Context, event.Event)) func(context.Context, event.Event) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(ctx context.Context, e event.Event) { defer g(ctx, e); f(ctx, e) }
}

// named returns the scope for a run of m. It adds the predictors' paths within m; an enclosing module's predictors keep
// the paths that they have there. If m is a copy of original, its predictors get the paths that the predictors of
// original have in the enclosing module.
func (s scope) named(m, original any) scope {
	outer := s.paths
	s.paths = make(map[*Predictor]string, len(outer))
	maps.Copy(s.paths, outer)
	originals := map[string]*Predictor{}
	if original != nil {
		originals = maps.Collect(Predictors(original))
	}
	for path, p := range Predictors(m) {
		if known, ok := outer[originals[path]]; ok {
			path = known
		}
		if _, ok := s.paths[p]; !ok {
			s.paths[p] = path
		}
	}
	return s
}

// PathOf returns the path of a predictor in the module that runs, or "" if it is not part of that module.
func PathOf(ctx context.Context, p *Predictor) string { return scopeOf(ctx).paths[p] }

// pathOf returns m's path within the running module. It returns "" if m is that module, or is not part of it.
func (s scope) pathOf(m any) string {
	for path, p := range Predictors(m) {
		known := s.paths[p]
		if path == ownField && known != ownField {
			return known
		}
		name, found := strings.CutSuffix(known, "."+path)
		if !found {
			return ""
		}
		return name
	}
	return ""
}
