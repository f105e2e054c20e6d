package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxEnvFile bounds an environment file, in bytes.
const maxEnvFile = 1 << 20

// readEnvFile adds the variables of a file to vars. Its errors do not repeat the values.
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

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// parseEnv reads lines of NAME=value. It skips "export" before a name, empty lines and
// comments. A value in single quotes is literal; in double quotes \n, \r, \t, \" and \\ are
// escapes; both may span lines. An unquoted value ends at " #" or at the end of the line and
// is trimmed. Nothing is expanded: a dollar sign in a password stays a dollar sign.
func parseEnv(data []byte, vars map[string]string) error {
	rest := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	total := strings.Count(rest, "\n") + 1
	for rest != "" {
		number := total - strings.Count(rest, "\n")
		line, after, _ := strings.Cut(rest, "\n")
		if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
			rest = after
			continue
		}
		name, value, ok := strings.Cut(rest, "=")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(name, " \t"), "export "))
		if !ok || !envName.MatchString(name) {
			return fmt.Errorf("line %d is not NAME=value", number)
		}
		var err error
		if vars[name], rest, err = envValue(strings.TrimLeft(value, " \t")); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// envValue returns the value at the start of the text, and the lines after it.
func envValue(text string) (value, rest string, err error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		line, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, "#") {
			line = ""
		}
		for _, comment := range []string{" #", "\t#"} {
			line, _, _ = strings.Cut(line, comment)
		}
		return strings.TrimSpace(line), rest, nil
	}
	end := closingQuote(text)
	if end < 0 {
		return "", "", fmt.Errorf("the quote %c is not closed", text[0])
	}
	line, rest, _ := strings.Cut(text[end+1:], "\n")
	if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
		return "", "", errors.New("there is text after the closing quote")
	}
	if value = text[1:end]; text[0] == '"' {
		value = envEscapes.Replace(value)
	}
	return value, rest, nil
}

var envEscapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)

// closingQuote returns the position of the quote that closes the one at the start of the text;
// -1 if there is none.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i
		}
	}
	return -1
}
