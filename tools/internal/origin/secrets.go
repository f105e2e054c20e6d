package origin

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Secrets are the secret values that are sent to one server: headers, the password in its URL, and the
// session ID. The server may repeat them in its messages, which become part of errors.
type Secrets struct {
	mu     sync.Mutex
	values []secret // the most recently used first
}

// secret is a value and the pattern that finds it in any letter case, or nil if the value is not UTF-8.
type secret struct {
	value   string
	pattern *regexp.Regexp
}

const (
	minSecret  = 7 // bytes; shorter values would match ordinary words
	maxSecrets = 256
)

// AddHeaders adds header values.
func (s *Secrets) AddHeaders(h http.Header) {
	for _, values := range h {
		for _, value := range values {
			s.Add(value)
			if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < 20 {
				s.Add(strings.TrimSpace(token)) // after "Bearer"
			}
		}
	}
}

// Add adds a value. Values of fewer than 7 bytes are not hidden.
func (s *Secrets) Add(value string) {
	if len(value) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.values, func(old secret) bool { return old.value == value })
	var added secret
	if i >= 0 {
		added = s.values[i]
		s.values = slices.Delete(s.values, i, i+1)
	} else {
		added.value = value
		added.pattern, _ = regexp.Compile("(?i)" + regexp.QuoteMeta(value))
	}
	s.values = slices.Insert(s.values, 0, added)
	s.values = s.values[:min(len(s.values), maxSecrets)]
}

// Hide returns the string without the secrets, ignoring case. A nil Secrets hides nothing.
func (s *Secrets) Hide(text string) string {
	if s == nil || text == "" {
		return text
	}
	s.mu.Lock()
	values := slices.Clone(s.values)
	s.mu.Unlock()
	slices.SortFunc(values, func(a, b secret) int { return len(b.value) - len(a.value) }) // one may contain another
	for _, s := range values {
		if s.pattern == nil {
			text = strings.ReplaceAll(text, s.value, "[hidden]")
		} else {
			text = s.pattern.ReplaceAllLiteralString(text, "[hidden]")
		}
	}
	return text
}
