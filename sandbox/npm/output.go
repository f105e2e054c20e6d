package npm

import (
	"os"
	"regexp"
	"strings"
)

var (
	// userInfo matches the user name and password in a URL.
	userInfo = regexp.MustCompile(`//[^/@\s"']+@`)
	// hostPath matches an absolute path, but not a URL, whose slashes follow a colon.
	hostPath = regexp.MustCompile(`(^|[\s"'(\[=,]|file:(?://)?)((?:[A-Za-z]:)?[\\/][^\s"'():\],]*)`)
	// control matches control characters and the escape sequences of terminals.
	control = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]`)
)

// strip removes the host's data from npm's output: paths, the values of inherited
// variables, and the user names and passwords in URLs.
func (e *Environment) strip(text, dir, home string) string {
	text = control.ReplaceAllString(text, "")
	for _, name := range e.o.Env {
		if value := os.Getenv(name); len(value) >= minSecret {
			text = strings.ReplaceAll(text, value, "["+name+"]")
		}
	}
	text = strings.NewReplacer(dir, ".", home, "~").Replace(text)
	text = userInfo.ReplaceAllString(text, "//[user]@")
	return hostPath.ReplaceAllString(text, "${1}[path]")
}

// minSecret is the minimum length of a variable's value that strip removes.
const minSecret = 4
