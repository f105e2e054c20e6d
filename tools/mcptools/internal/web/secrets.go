package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Secrets are the values of the headers sent to one server. The server may repeat them in its
// messages, which become part of errors.
type Secrets struct {
	mu     sync.Mutex
	values []string // the most recently used first
}

const (
	minSecret  = 7 // bytes; shorter values would match ordinary words
	maxSecrets = 256
)

// addHeaders adds the values of headers.
func (s *Secrets) addHeaders(h http.Header) {
	for _, values := range h {
		for _, value := range values {
			s.add(value)
			if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < 20 {
				s.add(strings.TrimSpace(token)) // after "Bearer"
			}
		}
	}
}

func (s *Secrets) add(value string) {
	if len(value) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.values, value); i >= 0 {
		s.values = slices.Delete(s.values, i, i+1)
	}
	s.values = slices.Insert(s.values, 0, value)
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
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may contain another
	for _, value := range values {
		re, err := regexp.Compile("(?i)" + regexp.QuoteMeta(value))
		if err != nil { // it is not UTF-8
			text = strings.ReplaceAll(text, value, "[hidden]")
			continue
		}
		text = re.ReplaceAllLiteralString(text, "[hidden]")
	}
	return text
}
