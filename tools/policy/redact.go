package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// Redact replaces secrets in results and errors, including the data of errors and
// [tools.Fatal] errors. The policies outside of it, the journal, the sandbox's Outcome and
// the program see only the replacements. errors.Is and errors.As still find the causes of an
// error.
func Redact(s *Secrets) tools.Policy {
	if s == nil {
		return broken("Redact needs Secrets; check the error that NewSecrets returned")
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if err != nil {
			return nil, s.error(ctx, c.Tool, err)
		}
		return s.JSON(result), nil
	})
}

// DenySecrets refuses calls whose arguments contain a secret. A program can know a secret
// from its inputs, or from a result that was not redacted.
func DenySecrets(s *Secrets) tools.Policy {
	if s == nil {
		return broken("DenySecrets needs Secrets; check the error that NewSecrets returned")
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if !bytes.Equal(s.JSON(c.Args), c.Args) {
			return nil, refusal("an argument contains a secret, such as a key or a password; leave it out")
		}
		return next.Call(ctx, c)
	})
}

// error returns err with the secrets replaced in its message and in the messages of its causes.
func (s *Secrets) error(ctx context.Context, b *tools.Binding, err error) error {
	if tools.IsFatal(err) {
		return s.cause(err)
	}
	te := dispatch.ToolError(ctx, b, err)
	clean := tools.ToolError{Tool: te.Tool, Kind: s.Text(te.Kind), Message: s.Text(te.Message), Data: s.JSON(te.Data)}
	return clean.WithCause(s.cause(te.Unwrap()))
}

// cause returns an error for the host whose text can be logged.
func (s *Secrets) cause(err error) error {
	if err == nil || !s.shown(err) {
		return err
	}
	return &redacted{err, s.Text(err.Error())}
}

// shown reports whether the text of err, or of one of its causes, contains a secret.
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

// redacted is an error with its secrets replaced. It has no Unwrap method, so that its causes' texts are not logged by
// accident.
type redacted struct {
	err  error
	text string
}

// Error returns the text with the secrets replaced.
func (e *redacted) Error() string { return e.text }

// Is implements [errors.Is].
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// As implements [errors.As].
func (e *redacted) As(target any) bool { return errors.As(e.err, target) }
