package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

const placeholder = "[redacted]"

// minSecret is the minimum length of a secret value in bytes. Shorter values occur in many
// strings by chance.
const minSecret = 6

// SecretOptions configures [NewSecrets].
type SecretOptions struct {
	// Values are secrets such as keys and passwords. They are also found in hex and
	// base64, with any of their characters escaped as in JSON or URLs, and with lines
	// that end in \r\n. White space around a value is ignored.
	Values []string

	// Patterns match other secrets. The whole match is a secret.
	Patterns []*regexp.Regexp

	// ValuesOnly disables the predefined patterns, which match well-known services' tokens, JSON Web Tokens, private
	// keys, passwords in URLs, and Authorization headers.
	ValuesOnly bool
}

// Secrets finds and replaces secrets. It is safe for concurrent use. Use [NewSecrets] to
// create one. A nil *Secrets finds nothing.
type Secrets struct {
	values   values
	patterns []*pattern
	escaped  bool // a value or hint has a character that JSON escapes
}

// NewSecrets returns Secrets for the given values and patterns. It returns an error if a
// value has fewer than 6 bytes, or if a pattern is nil or matches the empty string. The error
// does not contain the value.
func NewSecrets(o SecretOptions) (*Secrets, error) {
	s := &Secrets{}
	var errs []error
	for i, value := range o.Values {
		value = strings.TrimSpace(value)
		switch {
		case len(value) < minSecret:
			errs = append(errs, fmt.Errorf("policy: secret %d has %d bytes; secrets of fewer than %d would match "+
				"ordinary text", i+1, len(value), minSecret))
		case strings.Contains(placeholder, value):
			errs = append(errs, fmt.Errorf("policy: secret %d is a part of its replacement %s", i+1, placeholder))
		default:
			for _, form := range append(encodings(value), value, string([]rune(value))) {
				s.values.add(form)
				s.escaped = s.escaped || len(jsonvalue.Text(form)) > len(form)+2
			}
		}
	}
	if !o.ValuesOnly {
		s.patterns = predefined()
	}
	for i, re := range o.Patterns {
		if re == nil || re.MatchString("") {
			errs = append(errs, fmt.Errorf("policy: pattern %d is nil or matches the empty string: %v", i+1, re))
			continue
		}
		p := &pattern{re: re}
		if hint, _ := re.LiteralPrefix(); hint != "" {
			p.hints = []string{hint}
			s.escaped = s.escaped || len(jsonvalue.Text(hint)) > len(hint)+2
		}
		s.patterns = append(s.patterns, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// Text returns text with every secret replaced by [redacted].
func (s *Secrets) Text(text string) string {
	if s == nil {
		return text
	}
	for range 4 { // a replacement may complete another secret
		clean := s.replaced(text)
		if clean == text {
			return text
		}
		text = clean
	}
	return placeholder
}

// mayContainJSON reports whether JSON may contain a secret. Any character may be written as
// \u and four digits, and a slash as \/.
func (s *Secrets) mayContainJSON(text string) bool {
	return strings.Contains(text, `\u`) || strings.Contains(text, `\/`) ||
		s.escaped && strings.Contains(text, `\`) || s.mayContain(text)
}

// mayContain reports whether text may contain a secret.
func (s *Secrets) mayContain(text string) bool {
	mayMatch := func(p *pattern) bool { return p.mayMatch(text) }
	return slices.ContainsFunc(s.patterns, mayMatch) || len(s.values.spans(text, nil)) > 0
}

func (s *Secrets) replaced(text string) string {
	spans := s.values.spans(text, nil)
	for _, p := range s.patterns {
		if !p.mayMatch(text) {
			continue
		}
		for _, at := range p.re.FindAllStringSubmatchIndex(text, -1) {
			spans = append(spans, span{at[2*p.group], at[2*p.group+1]})
		}
	}
	if len(spans) == 0 {
		return text
	}
	return replace(text, placeholder, spans)
}

// Attr replaces secrets in log records. Use it as ReplaceAttr of [slog.HandlerOptions]:
//
//	slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: secrets.Attr})
//
// A structured value that contains a secret is logged as JSON.
func (s *Secrets) Attr(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() == slog.KindString {
		a.Value = slog.StringValue(s.Text(a.Value.String()))
	} else {
		a.Value = s.value(a.Value)
	}
	a.Key = s.Text(a.Key)
	return a
}

// value returns v if it contains a secret neither as JSON nor as text, the two forms in which handlers write it.
// Otherwise, it returns the JSON or the text with the secrets replaced. An error becomes its text.
func (s *Secrets) value(v slog.Value) (clean slog.Value) {
	defer func() {
		if p := recover(); p != nil { // in one of the value's methods
			clean = slog.StringValue(s.Text(fmt.Sprintf("!PANIC: %v", p)))
		}
	}()
	if err, ok := v.Any().(error); ok {
		return slog.StringValue(s.Text(fmt.Sprint(err)))
	}
	if encoded, err := json.Marshal(v.Any()); err == nil {
		if clean := s.JSON(encoded); !bytes.Equal(clean, encoded) {
			return slog.AnyValue(clean)
		}
	}
	text := fmt.Sprintf("%+v", v.Any())
	if r := reflect.ValueOf(v.Any()); r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
		text = string(r.Bytes()) // as a TextHandler writes it
	}
	if clean := s.Text(text); clean != text {
		return slog.StringValue(clean)
	}
	return v
}
