package mcptools

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxEnvFile bounds an environment file, in bytes.
const maxEnvFile = 1 << 20

// readEnvFile adds a file's variables to vars. Its errors do not repeat the values.
func readEnvFile(path string, vars map[string]string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEnvFile+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxEnvFile:
		return fmt.Errorf("%s is larger than %d bytes", path, maxEnvFile)
	}
	if err := parseEnv(data, vars); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// envLine matches one line, or several if the value is in quotes.
var envLine = regexp.MustCompile(`^[ \t]*(?:#.*|(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*` +
	`(?:(?:'([^']*)'|"((?:[^"\\]|\\[^\x00])*)")?[ \t]*(?:#.*)?|([^\s'"#].*?)(?:[ \t]#.*)?))?[ \t]*(?:\n|$)`)

var envEscapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)

// parseEnv reads lines of NAME=value. It skips "export" before a name, empty lines and
// comments. A value in single quotes is literal; in double quotes \n, \r, \t, \" and \\ are
// escapes; both may span lines. An unquoted value ends at " #" or at the end of the line and
// is trimmed. Nothing is expanded: a dollar sign in a password stays a dollar sign.
func parseEnv(data []byte, vars map[string]string) error {
	rest := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	for line := 1; rest != ""; {
		parts := envLine.FindStringSubmatch(rest)
		if parts == nil {
			return fmt.Errorf("line %d is not NAME=value, or its quotes are not closed", line)
		}
		if name := parts[1]; name != "" {
			vars[name] = parts[2] + envEscapes.Replace(parts[3]) + parts[4]
		}
		line += strings.Count(parts[0], "\n")
		rest = rest[len(parts[0]):]
	}
	return nil
}
