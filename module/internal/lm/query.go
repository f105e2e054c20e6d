package lm

import (
	"errors"
	"net/url"
	"strings"
)

// withoutQuery removes the query of the URL from the text of err, since some providers
// put their key there and net/http includes the URL in its errors.
func withoutQuery(err error) error {
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	_, query, _ := strings.Cut(failed.URL, "?")
	if query == "" {
		return err
	}
	return &reworded{err, strings.ReplaceAll(err.Error(), "?"+query, "?[query]")}
}

// Reworded returns err with another text.
func Reworded(err error, text string) error { return &reworded{err, text} }

// reworded is an error with another text.
type reworded struct {
	error
	text string
}

// Error returns the text.
func (e *reworded) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *reworded) Unwrap() error { return e.error }
