package mcptools

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

// readEnvFile reads the variables of a file. Its errors do not repeat what is
// in it.
func readEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEnvFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxEnvFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxEnvFile)
	}
	vars, err := parseEnv(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return vars, nil
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// parseEnv reads lines of NAME=value. "export" before a name, empty lines and
// comments are skipped. A value in single quotes is taken as it is; in double
// quotes \n, \r, \t, \" and \\ are escapes; both may span lines. A bare value
// ends at " #" or the end of the line, and is trimmed. Nothing is expanded: a
// dollar in a password stays one.
func parseEnv(data []byte) (map[string]string, error) {
	rest := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	total := strings.Count(rest, "\n") + 1
	vars := map[string]string{}
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
			return nil, fmt.Errorf("line %d is not NAME=value", number)
		}
		var err error
		if vars[name], rest, err = envValue(strings.TrimLeft(value, " \t")); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return vars, nil
}

// envValue returns the value that text starts with, and what follows its line.
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
	end := closing(text)
	if end < 0 {
		return "", "", fmt.Errorf("the quote %c is not closed", text[0])
	}
	line, rest, _ := strings.Cut(text[end+1:], "\n")
	if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
		return "", "", errors.New("something follows the closing quote")
	}
	if value = text[1:end]; text[0] == '"' {
		value = envEscapes.Replace(value)
	}
	return value, rest, nil
}

var envEscapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)

// closing returns where the quote that text starts with ends; -1 if it does not.
func closing(text string) int {
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
