package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/writ-go/writ/tools"
)

// Redact takes secrets out of results and errors, their data too, before anybody
// further out sees them: the policies that stand outside of it, the record of
// what was done, the sandbox's Outcome, and the program. It replaces the text of
// [tools.Fatal] errors, too. What caused an error stays known to errors.Is and
// errors.As, but its own text is no longer shown.
func Redact(s *Secrets) tools.Policy {
	if s == nil {
		return broken("Redact needs Secrets; look at the error that NewSecrets returned")
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if err != nil {
			return nil, s.error(ctx, c.Tool, err)
		}
		return s.JSON(result), nil
	})
}

// DenySecrets refuses calls whose arguments hold a secret. A program can know
// one if its inputs, or a result that was not redacted, hold it.
func DenySecrets(s *Secrets) tools.Policy {
	if s == nil {
		return broken("DenySecrets needs Secrets; look at the error that NewSecrets returned")
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if !bytes.Equal(s.JSON(c.Args), c.Args) {
			return nil, refusal("an argument holds a secret, such as a key or a password; secrets are not to be passed on; leave it out")
		}
		return next.Call(ctx, c)
	})
}

// error returns err with the secrets taken out of its text, and of the text of
// what is behind it.
func (s *Secrets) error(ctx context.Context, b *tools.Binding, err error) error {
	if tools.IsFatal(err) {
		return s.cause(err)
	}
	te := tools.AsToolError(ctx, b, err)
	clean := tools.ToolError{Tool: te.Tool, Kind: s.Text(te.Kind), Message: s.Text(te.Message), Data: s.JSON(te.Data)}
	return clean.WithCause(s.cause(te.Unwrap()))
}

// cause is an error for the host, with texts that can be logged.
func (s *Secrets) cause(err error) error {
	if err == nil || !s.shown(err) {
		return err
	}
	return &redacted{err, s.Text(err.Error())}
}

// shown reports whether err, or anything behind it, has a secret in its text.
func (s *Secrets) shown(err error) bool {
	if text := err.Error(); s.Text(text) != text {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		cause := e.Unwrap()
		return cause != nil && s.shown(cause)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return err != nil && s.shown(err) })
	}
	return false
}

// redacted is an error with another text. There is no Unwrap, lest the text of
// what is behind it be logged by accident.
type redacted struct {
	err  error
	text string
}

// Error returns the text without secrets.
func (e *redacted) Error() string { return e.text }

// Is is for [errors.Is].
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// As is for [errors.As].
func (e *redacted) As(target any) bool { return errors.As(e.err, target) }
