package main

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/policy"
)

// hidden are the secrets of the servers that there are or were: what goes to them
// as headers, or as variables whose names say that they are secret. A server may
// repeat them in its results; nobody gets to see them.
type hidden struct {
	mu     sync.Mutex
	values []string
	known  atomic.Pointer[policy.Secrets]
}

// add hides what a configuration holds, from now on.
func (h *hidden) add(config *mcptools.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range config.Servers {
		for _, value := range s.Headers {
			_, credentials, _ := strings.Cut(value, " ") // Bearer …
			h.remember(value, credentials)
		}
		for name, value := range s.Env {
			if secretly(name) {
				h.remember(value)
			}
		}
	}
	known, err := policy.NewSecrets(policy.SecretOptions{Values: h.values, ValuesOnly: true})
	if err == nil {
		h.known.Store(known)
	}
	return err
}

func (h *hidden) remember(values ...string) {
	const shortest = 6 // what is shorter would be found everywhere
	for _, value := range values {
		if value = strings.TrimSpace(value); len(value) >= shortest && !slices.Contains(h.values, value) {
			h.values = append(h.values, value)
		}
	}
}

// secretly reports whether a variable's name says that its value is secret.
func secretly(variable string) bool {
	variable = strings.ToUpper(variable)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"}, func(word string) bool {
		return strings.Contains(variable, word)
	})
}

func (h *hidden) text(s string) string { return h.known.Load().Text(s) }
func (h *hidden) attr(groups []string, a slog.Attr) slog.Attr {
	return h.known.Load().Attr(groups, a)
}

// policy takes the secrets out of what tools answer.
func (h *hidden) policy() tools.Policy { return policy.Redact(h.known.Load()) }
