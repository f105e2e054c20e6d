package config

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

// A reference is ${…}; for opencode also {env:…} and {file:…}.
var (
	reference       = regexp.MustCompile(`\$\{[^{}]+\}`)
	bracedReference = regexp.MustCompile(`\$\{[^{}]+\}|\{(?:env|file):[^{}]+\}`)
)

// expander replaces the references in one entry and collects its errors.
type expander struct {
	Source
	known      map[string]string // references that are not variables
	references *regexp.Regexp
	disabled   bool // the variables need not be set
	errs       []error
}

func newExpander(source Source, root string) *expander {
	x := &expander{Source: source, references: reference}
	if root == mcpRoot {
		x.references = bracedReference
	}
	if source.Dir != "" {
		x.known = editorVariables(source.Dir)
	}
	return x
}

// editorVariables returns the references that editors define.
func editorVariables(dir string) map[string]string {
	known := map[string]string{"/": string(filepath.Separator), "pathSeparator": string(filepath.Separator)}
	if home, err := os.UserHomeDir(); err == nil {
		known["userHome"] = home
	}
	if dir, err := os.Getwd(); err == nil {
		known["cwd"] = dir
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
	return x.references.ReplaceAllStringFunc(text, func(ref string) string {
		if x.disabled {
			return ""
		}
		value, err := x.value(ref[strings.IndexByte(ref, '{')+1 : len(ref)-1])
		if err != nil {
			x.errs = append(x.errs, err)
		}
		return value
	})
}

// path expands a path. A relative path starts at the file's directory.
func (x *expander) path(text string) string {
	path := x.expand(text)
	if path != "" && x.Dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(x.Dir, path)
	}
	return path
}

// all expands the values of a map, ordered by name to keep errors in a stable order. It leaves out null.
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
	value, ok := x.Lookup(name)
	switch {
	case hasFallback && value == "": // unset or empty, as in a shell
		return fallback, nil
	case ok:
		return value, nil
	case strings.HasPrefix(ref, "input:"):
		return "", fmt.Errorf("${%s} asks the user of an editor; use an environment variable instead, such as ${API_KEY}",
			ref)
	case strings.HasPrefix(ref, "command:"), strings.HasPrefix(ref, "config:"), strings.HasPrefix(ref, "file:"):
		return "", fmt.Errorf("the reference {%s} works only in another client; use an environment variable instead", ref)
	}
	return "", fmt.Errorf("variable %s is not set; set it, or give a default: ${%s:-…}", name, name)
}

// envFile returns the variables of an environment file; an empty map for no file.
func (x *expander) envFile(name string) map[string]string {
	vars := map[string]string{}
	path := x.path(name)
	var err error
	switch {
	case path == "", x.disabled:
	case x.Dir == "":
		err = errors.New("needs the directory of the configuration file; use ReadConfig")
	default:
		err = readEnvFile(path, vars)
	}
	if err != nil {
		x.errs = append(x.errs, fmt.Errorf(`"envFile": %w`, err))
	}
	return vars
}
