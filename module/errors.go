package module

import (
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// rescue, when deferred, turns a panic into an error.
func rescue(in string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("module: %w", lm.NewPanic(in, p))
	}
}

// rescue, when deferred, turns a panic into an error that holds what the run has done.
func (r *recorder) rescue(err *error) {
	if p := recover(); p != nil {
		*err = r.incomplete(lm.NewPanic("Run of "+r.origin.Module, p))
	}
}

// readable returns err. If a method of err panics, as the methods of a nil pointer of an error type may, it returns the
// panic as an error instead.
func readable(from string, err error) (checked error) {
	if err == nil {
		return nil
	}
	defer rescue(fmt.Sprintf("the %T that %s returned", err, from), &checked)
	_ = err.Error()
	_ = errors.Is(err, errNoReturn) // calls the methods of all errors that err wraps
	return err
}

var (
	errNoContext = errors.New("module: the context is nil; pass context.Background() if you have no other")
	errNoReturn  = errors.New("module: the run ended with runtime.Goexit instead of returning")
)

// failures joins several errors under one short message.
type failures struct {
	text string
	errs []error
}

func (f *failures) Error() string   { return f.text }
func (f *failures) Unwrap() []error { return f.errs }

// bare returns an error's message for use within another error of this package: without the prefix "module: ", even if
// the caller wrapped the error.
func bare(err error) string {
	text := fmt.Sprint(err)
	for ; err != nil; err = errors.Unwrap(err) {
		own := err.Error()
		if before, inside := strings.CutSuffix(text, own); inside {
			text = before + strings.TrimPrefix(own, "module: ")
		}
	}
	return text
}

func shorten(text string, limit int) string { return display.Cut(text, limit) }

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func plural(n int, noun string) string { return display.Plural(n, noun) }

// notMade returns the error for a module that is nil or a zero value.
func notMade(name string) error {
	return fmt.Errorf("module: the %s is nil, or was not made by New%[1]s", name)
}

// Errors for missing or invalid module parts. Run returns them before it calls the model.
var (
	errNoPredictor = errors.New("module: a Predictor is nil; create the module with its New function")
	errNoSignature = errors.New("module: the signature is missing; create one with signature.New")
	errNoModel     = errors.New("module: the model is missing; open one with models.Open, or pass a langchaingo model")
	errNilOption   = errors.New("module: the Predictor's CallOptions contain a nil option; remove it")
	errNoSandbox   = errors.New("module: the sandbox is missing; create one with sandbox.New, and close it when done")
)
