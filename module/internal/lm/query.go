package lm

import (
	"errors"
	"net/url"
	"strings"
)

// withoutQuery is err in a text that has not the query of its URL, where some
// providers have their key: net/http writes it into the error of every connection.
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

// reworded is an error in another text.
type reworded struct {
	error
	text string
}

// Error returns the text.
func (e *reworded) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *reworded) Unwrap() error { return e.error }
