package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/module/internal/prompt"
)

// failures is several errors with one short text.
type failures struct {
	text string
	errs []error
}

func (f *failures) Error() string   { return f.text }
func (f *failures) Unwrap() []error { return f.errs }

// bare returns the text of an error for use within another error of this package, without the prefix "module: ", even
// if the caller wrapped the error.
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

func shorten(text string, most int) string { return prompt.Shorten(text, most) }

func plural(n int, noun string) string { return prompt.Plural(n, noun) }

// first returns the first byte of a JSON value, where nothing is null.
func first(value json.RawMessage) byte {
	if len(value) == 0 {
		return 'n'
	}
	return value[0]
}
