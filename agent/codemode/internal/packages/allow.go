package packages

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxSpecs is the maximum number of packages in one call.
const maxSpecs = 64

// allowList holds patterns of [path.Match], in which * does not match a slash.
type allowList []string

func (a allowList) has(name string) bool {
	return slices.ContainsFunc(a, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// refusal returns the reason for rejecting a package that is not on the list.
func (a allowList) refusal() string {
	if len(a) == 0 {
		return "no package is allowed here"
	}
	return "not on the list of allowed packages: " + strings.Join(a, ", ")
}

// specs parses the names and versions of packages. The error lists all packages that are invalid or not allowed.
func (a allowList) specs(texts []string) ([]Spec, error) {
	if err := checkCount(len(texts)); err != nil {
		return nil, err
	}
	specs := make([]Spec, len(texts))
	var errs []error
	for i, text := range texts {
		spec, err := ParseSpec(text)
		if err == nil && !a.has(spec.Name) {
			err = &SpecError{text, a.refusal()}
		}
		if err == nil && named(specs[:i], spec.Name) {
			err = &SpecError{text, "the package is listed twice"}
		}
		if specs[i] = spec; err != nil {
			errs = append(errs, err)
		}
	}
	return specs, errors.Join(errs...)
}

func named(specs []Spec, name string) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool { return s.Name == name })
}

func checkCount(n int) error {
	switch {
	case n == 0:
		return &SpecError{"", "name at least one package"}
	case n > maxSpecs:
		return &SpecError{"", fmt.Sprintf("%d packages are too many; the limit per call is %d", n, maxSpecs)}
	}
	return nil
}

// checkNames returns an error for each invalid package name.
func checkNames(names []string) error {
	if len(names) > maxSpecs {
		return checkCount(len(names))
	}
	var errs []error
	for _, name := range names {
		if why := badName(name); why != "" {
			errs = append(errs, &SpecError{name, why})
		}
	}
	return errors.Join(errs...)
}
