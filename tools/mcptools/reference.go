package mcptools

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reference matches ${…}.
var reference = regexp.MustCompile(`\$\{[^{}]+\}`)

// expander replaces the references in one entry and collects its errors.
type expander struct {
	lookup   func(name string) (string, bool) // returns an environment variable's value
	dir      string                           // of the configuration file; empty if there is no file
	known    map[string]string                // values of references that are not variables
	disabled bool                             // the server is disabled, so its variables need not be set
	errs     []error
}

// editorVariables returns the references that editors define.
func editorVariables(dir string) map[string]string {
	known := map[string]string{}
	if home, err := os.UserHomeDir(); err == nil {
		known["userHome"] = home
	}
	if dir, err := filepath.Abs(dir); err == nil {
		if strings.HasPrefix(filepath.Base(dir), ".") {
			dir = filepath.Dir(dir)
		}
		known["workspaceFolder"], known["workspaceFolderBasename"] = dir, filepath.Base(dir)
	}
	return known
}

func (x *expander) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if x.disabled {
			return ""
		}
		value, err := x.value(ref[2 : len(ref)-1])
		if err != nil {
			x.errs = append(x.errs, err)
		}
		return value
	})
}

// path expands a path. A relative path starts at the file's directory.
func (x *expander) path(text string) string {
	path := x.expand(text)
	if path != "" && x.dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(x.dir, path)
	}
	return path
}

// all expands a map's values, except null, in the order of their keys, so that errors have a stable order.
func (x *expander) all(values map[string]*scalar) map[string]string {
	expanded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value := values[name]; value != nil {
			expanded[name] = x.expand(string(*value))
		}
	}
	return expanded
}

func (x *expander) value(ref string) (string, error) {
	if value, ok := x.known[ref]; ok {
		return value, nil
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	value, ok := x.lookup(name)
	switch {
	case hasFallback && value == "": // unset or empty, as in a shell
		return fallback, nil
	case ok:
		return value, nil
	case strings.HasPrefix(ref, "input:"):
		return "", fmt.Errorf("${%s} prompts the user of an editor; use an environment variable instead, such as "+
			"${API_KEY}", ref)
	case strings.HasPrefix(ref, "command:"), strings.HasPrefix(ref, "config:"):
		return "", fmt.Errorf("the reference ${%s} works only in other clients; use an environment variable instead",
			ref)
	}
	return "", fmt.Errorf("variable %s is not set; set it, or give a default: ${%s:-…}", name, name)
}

// envFile returns an environment file's variables, or an empty map if there is no file.
func (x *expander) envFile(name string) map[string]string {
	vars := map[string]string{}
	path := x.path(name)
	var err error
	switch {
	case path == "", x.disabled:
	case x.dir == "":
		err = errors.New("needs the directory of the configuration file; use ReadConfig")
	default:
		err = readEnvFile(path, vars)
	}
	if err != nil {
		x.errs = append(x.errs, fmt.Errorf(`"envFile": %w`, err))
	}
	return vars
}
