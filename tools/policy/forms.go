package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// escapes returns a text as it may be written in JSON and in a URL.
func escapes(text string) []string {
	list := []string{escaped(text, true), escaped(text, false)}
	for _, inURL := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		list = append(list, inURL, percent.ReplaceAllStringFunc(inURL, strings.ToLower))
	}
	return list
}

// encodings returns a text in hex and in base64, also as a part of something longer.
// They may be escaped once more.
func encodings(text string) []string {
	digits := hex.EncodeToString([]byte(text))
	list := []string{digits, strings.ToUpper(digits)}
	for offset := range 3 {
		list = append(list, inBase64(base64.RawStdEncoding, text, offset), inBase64(base64.RawURLEncoding, text, offset))
	}
	return list
}

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// escaped is a text as it stands between the quotes of a JSON string.
func escaped(text string, html bool) string {
	quoted := quote(text, html)
	return string(quoted[1 : len(quoted)-1])
}

// quote writes a JSON string.
func quote(text string, html bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(text); err != nil {
		panic(err) // unreachable: every string has a JSON form
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// inBase64 is the part of the encoding that depends on the text alone, if so many
// bytes, modulo 3, precede it.
func inBase64(e *base64.Encoding, text string, offset int) string {
	encoded := e.EncodeToString(append(make([]byte, offset), text...))
	if (offset+len(text))%3 != 0 {
		encoded = encoded[:len(encoded)-1] // shares its bits with what follows
	}
	return encoded[(offset*8+5)/6:]
}
