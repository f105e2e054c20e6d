package mcptools

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// secrets are the values of our own headers, as far as they can be told from
// ordinary words. A server may repeat them in what it says, which we repeat in
// errors.
type secrets struct {
	mu     sync.Mutex
	values []string // in lower case; the last ones used, the last first
}

const (
	minSecret  = 7   // bytes
	maxSecrets = 256 // values; more users at once are not reckoned with
)

// note takes in the headers of a request.
func (s *secrets) note(h http.Header) {
	for _, values := range h {
		for _, value := range values {
			s.add(value)
			if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < 20 {
				s.add(strings.TrimSpace(token)) // as in Bearer
			}
		}
	}
}

func (s *secrets) add(value string) {
	if len(value) < minSecret {
		return
	}
	value = lower(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.values, value); i >= 0 {
		s.values = slices.Delete(s.values, i, i+1)
	}
	s.values = slices.Insert(s.values, 0, value)
	s.values = s.values[:min(len(s.values), maxSecrets)]
}

// hide returns a text of the server's without them, in whatever case it has
// them.
func (s *secrets) hide(text string) string {
	if s == nil || text == "" {
		return text
	}
	s.mu.Lock()
	values := slices.Clone(s.values)
	s.mu.Unlock()
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	for _, value := range values {
		text = hide(text, value)
	}
	return text
}

func hide(text, value string) string {
	var b strings.Builder
	for low := lower(text); ; {
		at := strings.Index(low, value)
		if at < 0 {
			break
		}
		b.WriteString(text[:at] + "[hidden]")
		text, low = text[at+len(value):], low[at+len(value):]
	}
	return b.String() + text
}

// lower is in lower case as far as ASCII goes, and so of the same length.
func lower(text string) string {
	bytes := []byte(text)
	for i, c := range bytes {
		if 'A' <= c && c <= 'Z' {
			bytes[i] = c + 'a' - 'A'
		}
	}
	return string(bytes)
}

// hiddenError is an error of which the text is not told as it is.
type hiddenError struct {
	err     error
	secrets *secrets
}

func (e *hiddenError) Error() string { return e.secrets.hide(e.err.Error()) }
func (e *hiddenError) Unwrap() error { return e.err }

// plainConfig is a ServerConfig without its String, to be printed.
type plainConfig ServerConfig

// String returns the configuration as it may be printed: without the values of
// Env and Headers, and without URL and Args, which may hold secrets as well.
func (c ServerConfig) String() string {
	c.Env, c.Headers = hidden(c.Env), hidden(c.Headers)
	if c.URL != "" {
		c.URL = "[hidden]"
	}
	if len(c.Args) > 0 {
		c.Args = []string{fmt.Sprintf("[%d hidden]", len(c.Args))}
	}
	return fmt.Sprintf("%+v", plainConfig(c))
}

// GoString is [ServerConfig.String], for %#v.
func (c ServerConfig) GoString() string { return c.String() }

// LogValue is [ServerConfig.String], for package slog.
func (c ServerConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

func hidden(values map[string]string) map[string]string {
	values = maps.Clone(values)
	for name := range values {
		values[name] = "[hidden]"
	}
	return values
}
