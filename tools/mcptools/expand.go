package mcptools

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A reference is ${…}; in opencode also {env:…} and {file:…}.
var (
	reference       = regexp.MustCompile(`\$\{[^{}]+\}`)
	bracedReference = regexp.MustCompile(`\$\{[^{}]+\}|\{(?:env|file):[^{}]+\}`)
)

// expander replaces the references in one entry, and gathers what is wrong with
// them.
type expander struct {
	*reader
	silent bool // everything is empty
	errs   []error
}

func (x *expander) expand(text string) string {
	references := reference
	if x.braces {
		references = bracedReference
	}
	return references.ReplaceAllStringFunc(text, func(ref string) string {
		value, err := x.value(ref[strings.IndexByte(ref, '{')+1 : len(ref)-1])
		if err != nil && !x.silent {
			x.errs = append(x.errs, err)
		}
		return value
	})
}

// path expands a path, which is taken from the file's folder if it is relative.
func (x *expander) path(text string) string {
	path := x.expand(text)
	if path != "" && x.folder != "" && !filepath.IsAbs(path) {
		path = filepath.Join(x.folder, path)
	}
	return path
}

// all expands the values of a map, by name, so that inputs are asked for and
// errors told in the same order every time; null is left out.
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
	if id, ok := strings.CutPrefix(ref, "input:"); ok {
		return x.answer(id)
	}
	if value, ok := x.known[ref]; ok {
		return value, nil
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	value, ok := x.lookup(name)
	switch {
	case hasFallback && value == "": // as in a shell: unset or empty
		return fallback, nil
	case ok:
		return value, nil
	case x.braces && strings.HasPrefix(ref, "file:"):
		return "", fmt.Errorf("{%s} is not read here; put the value into a variable, and write ${VARIABLE}", ref)
	case strings.HasPrefix(ref, "command:"), strings.HasPrefix(ref, "config:"):
		return "", fmt.Errorf("${%s} is known to an editor only; write its value, or a variable", ref)
	default:
		return "", fmt.Errorf("variable %s is not set; set it, or give a default: ${%s:-…}", name, name)
	}
}

// envFile returns the variables of a file; an empty map for no file.
func (x *expander) envFile(name string) map[string]string {
	path := x.path(name)
	switch {
	case path == "", x.silent:
		return map[string]string{}
	case x.folder == "":
		x.errs = append(x.errs, fmt.Errorf(`"envFile" needs a folder to start from; use ReadConfig`))
		return map[string]string{}
	}
	vars, err := readEnvFile(path)
	if err != nil {
		x.errs = append(x.errs, fmt.Errorf(`"envFile": %w`, err))
		return map[string]string{}
	}
	return vars
}

// wellKnown returns what editors know beside the environment.
func wellKnown(folder string) map[string]string {
	known := map[string]string{"/": string(filepath.Separator), "pathSeparator": string(filepath.Separator)}
	if home, err := os.UserHomeDir(); err == nil {
		known["userHome"] = home
	}
	if dir, err := os.Getwd(); err == nil {
		known["cwd"] = dir
	}
	if dir, err := filepath.Abs(folder); err == nil {
		if strings.HasPrefix(filepath.Base(dir), ".") {
			dir = filepath.Dir(dir)
		}
		known["workspaceFolder"], known["workspaceFolderBasename"] = dir, filepath.Base(dir)
	}
	return known
}
