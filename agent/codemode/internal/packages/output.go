package packages

import (
	"os"
	"regexp"
	"strings"

	"github.com/writ-go/writ/internal/display"
)

var (
	// userInfo matches the user name and password in a URL.
	userInfo = regexp.MustCompile(`//[^/@\s"']+@`)
	// hostPath matches an absolute path, but not a URL, whose slashes follow a colon.
	hostPath = regexp.MustCompile(`(^|[\s"'(\[=,]|file:(?://)?)((?:[A-Za-z]:)?[\\/][^\s"'():\],]*)`)
)

// strip removes the host's data from npm's output: paths, values of inherited variables, and the user names and
// passwords in URLs.
func (e *Environment) strip(text, dir, home string) string {
	text = display.Text(text)
	for _, name := range e.env {
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
