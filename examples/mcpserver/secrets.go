package main

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/policy"
)

// hidden are the secrets of the current and previous servers: headers, passwords in URLs,
// and variables, arguments and parts of URLs whose names show that they are secret. A
// server may repeat them in its results, so they are removed there.
type hidden struct {
	mu     sync.Mutex
	values []string
	known  atomic.Pointer[policy.Secrets]
}

// add hides the secrets of a configuration from now on.
func (h *hidden) add(config *mcptools.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range config.Servers {
		for _, value := range s.Headers {
			_, credentials, _ := strings.Cut(value, " ") // Bearer …
			h.remember(value, credentials)
		}
		for name, value := range s.Env {
			h.named(name, value)
		}
		flag := "" // that has its value in the next argument
		for _, arg := range s.Args {
			h.named(flag, arg)
			name, value, ok := strings.Cut(arg, "=")
			if h.named(name, value); !ok && strings.HasPrefix(arg, "-") {
				flag = arg
			} else {
				flag = ""
			}
		}
		h.named("", s.URL)
	}
	known, err := policy.NewSecrets(policy.SecretOptions{Values: h.values, ValuesOnly: true})
	if err == nil {
		h.known.Store(known)
	}
	return err
}

// named hides a value if its name says so, and what is secret in it if it is a URL.
func (h *hidden) named(name, value string) {
	if secretly(name) {
		h.remember(value)
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return
	}
	if password, ok := u.User.Password(); ok {
		h.remember(password)
	}
	for name, values := range u.Query() {
		if secretly(name) {
			h.remember(values...)
		}
	}
}

func (h *hidden) remember(values ...string) {
	const shortest = 6 // what is shorter would be found everywhere
	for _, value := range values {
		if value = strings.TrimSpace(value); len(value) >= shortest && !slices.Contains(h.values, value) {
			h.values = append(h.values, value)
		}
	}
}

// secretly reports whether a name says that its value is secret.
func secretly(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

func (h *hidden) text(s string) string { return h.known.Load().Text(s) }
func (h *hidden) attr(groups []string, a slog.Attr) slog.Attr {
	return h.known.Load().Attr(groups, a)
}

// policy removes the secrets from the results of tools.
func (h *hidden) policy() tools.Policy { return policy.Redact(h.known.Load()) }
