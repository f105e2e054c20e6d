package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A model that writes LaTeX or a path into JSON may forget to double the backslashes:
// "\frac{3}{4}" has a form feed, as JSON reads it. Nobody means that, a backspace or half
// an end of a line, in a text; so the backslash is meant. A tab and a new line may be
// meant.

// isSlash reports whether the backslash that a text begins with is meant itself, though it
// begins an escape.
func isSlash(rest string) bool {
	if len(rest) < 3 {
		return false
	}
	switch rest[1] {
	case 'b', 'f':
		return true
	case 'r':
		return isLetter(rest[2])
	case 't':
		return afterT.MatchString(rest[2:min(len(rest), 20)])
	case 'n':
		return afterN.MatchString(rest[2:min(len(rest), 20)])
	}
	return false
}

// afterT and afterN find what makes a command of LaTeX of the letter of an escape, and is
// no word.
var (
	afterT = regexp.MustCompile(`^(?:(?:imes|heta|riangle|herefore)(?:[^a-z]|$)|(?:d?frac|ext(?:bf|it|rm|tt)?|ilde)\{)`)
	afterN = regexp.MustCompile(`^(?:abla|eq|otin)(?:[^a-z]|$)`)
)

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// mayBeSlash reports whether the backslash may be meant, where others in the text are.
func mayBeSlash(rest string) bool {
	return len(rest) > 2 && (rest[1] == 't' || rest[1] == 'n') && rest[2] >= 'a' && rest[2] <= 'z'
}

// slashes tells whether the texts that were read have backslashes that are meant, and
// others that may be.
type slashes struct{ some, perhaps bool }

// see takes in the escape that a text begins with, and reports whether its backslash is
// meant.
func (s *slashes) see(rest string) bool {
	slash := isSlash(rest)
	s.some, s.perhaps = s.some || slash, s.perhaps || !slash && mayBeSlash(rest)
	return slash
}

var errSlashes = errors.New(`it has backslashes in a text that are not doubled; write each as \\`)

func (s *slashes) err() error {
	if s.some && s.perhaps {
		return errSlashes
	}
	return nil
}

// slashed is JSON with the backslashes doubled that are meant themselves.
func slashed(text string) (string, error) {
	var seen slashes
	mended := eachEscape(text, func(b *strings.Builder, rest string) {
		if seen.see(rest) {
			b.WriteByte('\\')
		}
		b.WriteString(rest[:2])
	})
	return mended, seen.err()
}

// Escaped is JSON of which every escape is read as it is meant.
func Escaped(value json.RawMessage) json.RawMessage {
	return json.RawMessage(eachEscape(string(value), func(b *strings.Builder, rest string) {
		if isSlash(rest) {
			fmt.Fprintf(b, `\u%04x`, controls[rest[1]])
			return
		}
		b.WriteString(rest[:2])
	}))
}

var controls = map[byte]byte{'b': '\b', 'f': '\f', 'r': '\r', 't': '\t', 'n': '\n'}

// eachEscape is JSON with its escapes of two signs written anew.
func eachEscape(text string, write func(b *strings.Builder, rest string)) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 >= len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		write(&b, text[at:])
		text = text[at+2:]
	}
}
