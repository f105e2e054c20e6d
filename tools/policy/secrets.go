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
)

// placeholder stands where a secret was.
const placeholder = "[redacted]"

// minSecret is the length of the shortest secret, in bytes: what is shorter is
// in every other text by chance.
const minSecret = 6

// SecretOptions configures [NewSecrets].
type SecretOptions struct {
	// Values are secrets as they are: keys, passwords. They are also found as
	// they are written in JSON, URLs, hex and base64, whichever characters are
	// escaped there, and with lines that end in \r\n. White space around them
	// does not count.
	Values []string

	// Patterns are shapes of other secrets. The whole match is one.
	Patterns []*regexp.Regexp

	// ValuesOnly switches off the patterns that are known without being given:
	// the tokens of well-known services, JSON Web Tokens, private keys,
	// passwords in URLs, and Authorization headers.
	ValuesOnly bool
}

// Secrets are what must not get out. They are made by [NewSecrets] and safe for
// concurrent use. A nil *Secrets knows of none.
type Secrets struct {
	texts    texts
	spelled  spellings
	patterns []*pattern
	alarm    texts // the texts, and the hints at patterns: without any of them there is no secret
	always   bool  // unless a pattern has no hints
	quoting  bool  // some of the texts look different within a JSON string
}

// NewSecrets returns the secrets to be taken out. It returns an error if a value
// has fewer than 6 bytes, which would be found everywhere, or if a pattern
// matches no text at all; it does not repeat the value.
func NewSecrets(o SecretOptions) (*Secrets, error) {
	s := &Secrets{}
	var list, values []string
	var errs []error
	for i, value := range o.Values {
		value = strings.TrimSpace(value)
		switch {
		case len(value) < minSecret:
			errs = append(errs, fmt.Errorf("policy: secret %d has %d bytes; at least %d are needed to tell it from other text", i+1, len(value), minSecret))
		case strings.Contains(placeholder, value):
			errs = append(errs, fmt.Errorf("policy: secret %d is a part of %s, which is written instead", i+1, placeholder))
		default:
			plain := append(encodings(value), value)
			values = append(values, plain...)
			list = slices.Concat(list, plain, escapes(value))
		}
	}
	if !o.ValuesOnly {
		s.patterns = wellKnown()
	}
	for i, re := range o.Patterns {
		if re == nil || re.MatchString("") {
			errs = append(errs, fmt.Errorf("policy: pattern %d is nil or matches what is empty: %v", i+1, re))
			continue
		}
		s.patterns = append(s.patterns, given(re))
	}
	s.texts.set(list)
	s.spelled.set(values)
	for _, p := range s.patterns {
		s.always = s.always || len(p.hints) == 0
		list = append(list, p.hints...)
	}
	s.alarm.set(list)
	s.quoting = slices.ContainsFunc(list, func(text string) bool { return escaped(text, false) != text })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// given is a pattern of the host's.
func given(re *regexp.Regexp) *pattern {
	p := &pattern{re: re}
	if hint, _ := re.LiteralPrefix(); len(hint) >= headSize && escaped(hint, false) == hint {
		p.hints = []string{hint}
	}
	return p
}

// Text returns a text with [redacted] in the place of every secret.
func (s *Secrets) Text(text string) string {
	if s == nil || !s.suspicious(text) {
		return text
	}
	for range 4 { // what is written instead could complete another
		clean := s.once(text)
		if clean == text {
			return text
		}
		text = clean
	}
	return placeholder
}

func (s *Secrets) once(text string) string {
	spans := s.spelled.spans(text, s.texts.spans(text, nil))
	for _, p := range s.patterns {
		for _, at := range p.re.FindAllStringSubmatchIndex(text, -1) {
			spans = append(spans, span{at[2*p.part], at[2*p.part+1]})
		}
	}
	if len(spans) == 0 {
		return text
	}
	return replace(text, placeholder, spans)
}

// suspicious reports, quickly, whether there may be a secret in a text.
func (s *Secrets) suspicious(text string) bool {
	start, _ := s.alarm.find(text, 0)
	return start >= 0 || s.always || len(s.spelled.spans(text, nil)) > 0
}

// Attr takes secrets out of what is logged. It is a ReplaceAttr of
// [slog.HandlerOptions]:
//
//	slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: secrets.Attr})
//
// A structured value that holds one is logged as its JSON.
func (s *Secrets) Attr(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(s.Text(a.Value.String()))
	case slog.KindAny:
		a.Value = s.any(a.Value)
	default:
		a.Value = s.plain(a.Value)
	}
	a.Key = s.Text(a.Key)
	return a
}

// any is a value as it was if neither of the ways in which handlers write it,
// as JSON and by fmt, shows a secret.
func (s *Secrets) any(v slog.Value) (clean slog.Value) {
	defer func() {
		if p := recover(); p != nil { // in a method of the value's
			clean = slog.StringValue(s.Text(fmt.Sprintf("!PANIC: %v", p)))
		}
	}()
	if err, ok := v.Any().(error); ok {
		return slog.StringValue(s.Text(errorText(err)))
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

// plain is a number, time or truth as it was, unless it shows a secret.
func (s *Secrets) plain(v slog.Value) slog.Value {
	texts := []string{v.String()}
	if encoded, err := json.Marshal(v.Any()); err == nil { // 1e+06 and 1000000
		texts = append(texts, string(encoded))
	}
	for _, text := range texts {
		if clean := s.Text(text); clean != text {
			return slog.StringValue(clean)
		}
	}
	return v
}

// errorText is the text of an error that may be a nil pointer.
func errorText(err error) string {
	if r := reflect.ValueOf(err); r.Kind() == reflect.Pointer && r.IsNil() {
		return "<nil>"
	}
	return err.Error()
}
