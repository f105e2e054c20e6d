package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrNotFound is returned for a handle that the owner does not have: it was removed, has
// expired, belongs to another owner, or never existed.
var ErrNotFound = errors.New("workspace: not found")

// ErrName is returned for an invalid name.
var ErrName = errors.New("workspace: the name cannot be used")

// ErrExists is returned if the owner already has an entry with the same name.
var ErrExists = errors.New("workspace: name already in use")

// ErrLimit is returned if a change would exceed one of the owner's limits. Nothing has changed.
var ErrLimit = errors.New("workspace: over a limit")

// A handle is a name with a random part before its last dot: report-k3x9ab.js.
const (
	randomLength = 6
	alphabet     = "0123456789abcdefghjkmnpqrstvwxyz"
	nameLength   = 80
)

func newHandle(name string) string {
	var random [randomLength]byte
	_, _ = rand.Read(random[:]) // it never fails
	for i, b := range random {
		random[i] = alphabet[b%byte(len(alphabet))]
	}
	stem, ext := split(name)
	return stem + "-" + string(random[:]) + ext
}

// split splits a name before its last dot.
func split(name string) (stem, ext string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i:]
	}
	return name, ""
}

// nameOf returns the name in a handle, and whether the handle is well-formed.
func nameOf(handle string) (name string, ok bool) {
	stem, ext := split(handle)
	at := len(stem) - randomLength - 1
	if at < 1 || stem[at] != '-' || strings.Trim(stem[at+1:], alphabet) != "" {
		return "", false
	}
	name = stem[:at] + ext
	return name, validName(name) == nil
}

// noHandle replaces a malformed handle. No entry has this name, and looking it up takes as
// long as looking up any other name.
const noHandle = "0-none"

// entry returns the file or folder name for a handle.
func entry(handle string) string {
	if _, ok := nameOf(handle); !ok {
		return noHandle
	}
	return handle
}

func validName(name string) error {
	bad := func(why string) error { return fmt.Errorf("%w: %.100q %s", ErrName, name, why) }
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > nameLength:
		return bad(fmt.Sprintf("has %d characters; %d are allowed", len(name), nameLength))
	case strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) >= 0:
		return bad("has characters other than the letters a to z, digits, dots, hyphens and underscores")
	case strings.IndexByte(".-_", name[0]) >= 0:
		return bad("must begin with a letter or a digit")
	case name[len(name)-1] == '.':
		return bad("must not end with a dot")
	case !filepath.IsLocal(name):
		return bad("is reserved by the operating system")
	}
	return nil
}

func nameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)
}

func notFound(what, handle string) error {
	return fmt.Errorf("%w: you have no %s %.100q", ErrNotFound, what, handle)
}
