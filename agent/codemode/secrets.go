package codemode

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// secrets holds the secrets of the current and previous configurations. They are removed from the servers' results and
// errors, which may repeat them.
type secrets struct {
	mu     sync.Mutex
	values []string
	known  atomic.Pointer[policy.Secrets]
}

func (s *secrets) add(values []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Compact(slices.Sorted(slices.Values(append(s.values, values...))))
	known, err := policy.NewSecrets(policy.SecretOptions{Values: all, ValuesOnly: true})
	if err == nil {
		s.values = all
		s.known.Store(known)
	}
	return err
}

func (s *secrets) text(text string) string { return s.known.Load().Text(text) }

// policy removes the secrets from tool results.
func (s *secrets) policy() tools.Policy { return policy.Redact(s.known.Load()) }

// redacting removes secrets from log entries.
type redacting struct {
	slog.Handler
	secrets *secrets
}

// Handle implements [slog.Handler].
func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	return redacting{h.Handler.WithAttrs(h.cleanAll(attrs)), h.secrets}
}

// WithGroup implements [slog.Handler].
func (h redacting) WithGroup(name string) slog.Handler {
	return redacting{h.Handler.WithGroup(h.secrets.text(name)), h.secrets}
}

func (h redacting) clean(a slog.Attr) slog.Attr {
	if a.Value = a.Value.Resolve(); a.Value.Kind() == slog.KindGroup {
		return slog.Attr{Key: h.secrets.text(a.Key), Value: slog.GroupValue(h.cleanAll(a.Value.Group())...)}
	}
	return h.secrets.known.Load().Attr(nil, a)
}

func (h redacting) cleanAll(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return clean
}
