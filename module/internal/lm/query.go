package lm

import (
	"errors"
	"net/url"
	"strings"
)

// withoutQuery removes the URL's query from err's message, since some providers put their key there and net/http
// includes the URL in its errors.
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

// Reworded returns err with another message.
func Reworded(err error, text string) error { return &reworded{err, text} }

// reworded is an error with another message.
type reworded struct {
	error
	text string
}

// Error returns the message.
func (e *reworded) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *reworded) Unwrap() error { return e.error }
