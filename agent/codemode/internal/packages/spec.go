package packages

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxName    = 214 // npm's own limit
	maxVersion = 64
)

// Spec is a package to install: its name and version.
type Spec struct {
	Name    string // lodash-es, @scope/name
	Version string // an exact version, a range (^4.17, ~1.2, >=2, 1.x) or a tag (latest); empty means npm's choice
}

// String returns the spec in npm's notation: name or name@version.
func (s Spec) String() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + "@" + s.Version
}

// SpecError says why a package name or version was rejected. Nothing was changed.
type SpecError struct {
	Spec   string // as the caller passed it
	Reason string
}

// Error implements error.
func (e *SpecError) Error() string {
	if e.Spec == "" {
		return "packages: " + e.Reason
	}
	return fmt.Sprintf("package %s: %s", quote(e.Spec), e.Reason)
}

// quote returns an arbitrary string quoted, on one line of bounded length.
func quote(s string) string {
	if len(s) > maxName+maxVersion {
		return strconv.QuoteToASCII(s[:maxVersion]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

var (
	// namePart excludes the characters that npm allows only in old names (uppercase letters and
	// ~'!()*), and first characters that could begin an option or a path.
	namePart = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	// versionText matches one comparison or a tag. It excludes the characters that could
	// make npm interpret the string as something other than a version: slash, colon and at sign.
	versionText = regexp.MustCompile(`^(?:[~^=]|[<>]=?)?[0-9A-Za-z*][0-9A-Za-z.*+_-]*$`)
	// tarball matches what npm interprets as a local file name, in a name or after the @.
	tarball = regexp.MustCompile(`(?i)\.(?:tgz|tar\.gz|tar)$`)
	// notNames are the names that npm itself rejects.
	notNames = []string{"node_modules", "favicon.ico"}
)

// ParseSpec parses a string of the form name or name@version. It accepts only strings that npm interprets as a package
// in the registry. The error is a [*SpecError].
func ParseSpec(text string) (Spec, error) {
	s := Spec{Name: text}
	if at := strings.LastIndexByte(text, '@'); at > 0 {
		s = Spec{Name: text[:at], Version: text[at+1:]}
		if s.Version == "" {
			return Spec{}, &SpecError{text, "nothing follows the @; write a version, a range or a tag, or omit the @"}
		}
	}
	if why := badName(s.Name); why != "" {
		return Spec{}, &SpecError{text, why}
	}
	if why := badVersion(s.Version); why != "" {
		return Spec{}, &SpecError{text, why}
	}
	return s, nil
}

// badName returns the reason why a package name is rejected, or "" if it is valid.
func badName(name string) string {
	if name == "" {
		return "the name of a package is empty"
	}
	if len(name) > maxName {
		return fmt.Sprintf("the name has %d characters; the limit is %d", len(name), maxName)
	}
	parts := []string{name}
	if scoped, ok := strings.CutPrefix(name, "@"); ok {
		if parts = strings.Split(scoped, "/"); len(parts) != 2 {
			return "a name with a scope must have the form @scope/name"
		}
	}
	for _, part := range parts {
		if !namePart.MatchString(part) {
			return "must be the name of a package in the registry: name or @scope/name, of a-z, 0-9, . _ and -, " +
				"beginning with a letter or digit"
		}
	}
	if slices.Contains(notNames, name) {
		return "npm reserves this name"
	}
	if tarball.MatchString(name) {
		return "npm would take this for a file"
	}
	return ""
}

// badVersion returns the reason why the part after the @ is rejected, or "" if it is valid.
func badVersion(version string) string {
	switch {
	case version == "":
		return ""
	case len(version) > maxVersion:
		return fmt.Sprintf("the version has %d characters; the limit is %d", len(version), maxVersion)
	case !versionText.MatchString(version):
		return "after the @ must be one version, range or tag, such as 4.17.21, ^4, ~1.2, >=2 or latest; no spaces, " +
			"addresses, paths or aliases"
	case tarball.MatchString(version):
		return "npm would take the part after the @ for a file"
	}
	return ""
}
