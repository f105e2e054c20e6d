package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Report describes a change to an environment.
type Report struct {
	Added    []Change      `json:"added"`
	Updated  []Change      `json:"updated"`
	Removed  []Change      `json:"removed"`
	Packages int           `json:"packages"` // after the change, including dependencies
	Bytes    int64         `json:"bytes"`    // disk space that the packages use
	Duration time.Duration `json:"duration"` // in nanoseconds
}

// Change is one package that was added, updated or removed.
type Change struct {
	Name     string `json:"name"`
	Version  string `json:"version"`            // after the change, or before the removal
	Previous string `json:"previous,omitempty"` // before an update
	Direct   bool   `json:"direct"`             // installed by name, not only as a dependency
}

// Error is returned if npm ran and failed. The environment is unchanged.
type Error struct {
	Output string // npm's last lines, without the host's paths and secrets
	Err    error  // the reason; wraps context.DeadlineExceeded after Timeout
}

func (e *Error) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("packages: nothing was changed: %v", e.Err)
	}
	return fmt.Sprintf("packages: nothing was changed: %v. npm's last lines:\n%s", e.Err, e.Output)
}

func (e *Error) Unwrap() error { return e.Err }

// LimitError is returned if a change would exceed a limit. The environment is unchanged.
type LimitError struct {
	What  string // "packages" or "bytes"
	Limit int64
	Got   int64 // the count at which counting stopped
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("packages: nothing was changed: the environment would have at least %d %s; the limit is %d",
		e.Got, e.What, e.Limit)
}

// Install installs packages. Each is a name or name@version, where version is a version, a range or a tag.
//
// Before it starts npm, Install reports all invalid packages at once, each as a [*SpecError]. If npm fails or takes too
// long, the error is an [*Error]; if the environment would grow too large, it is a [*LimitError]. On any error, and if
// this process is killed, the environment is unchanged.
func (e *Environment) Install(ctx context.Context, specs []string) (*Report, error) {
	parsed, err := e.allow.specs(specs)
	if err != nil {
		return nil, err
	}
	return e.change(ctx, parsed)
}

// change runs npm on a copy, inspects the copy, and makes it the environment.
func (e *Environment) change(ctx context.Context, specs []Spec) (_ *Report, err error) {
	started := time.Now()
	defer e.sweep()
	e.sweep()
	before, err := e.listing()
	if err != nil {
		return nil, err
	}
	dir, err := e.begin()
	if err != nil {
		return nil, fmt.Errorf("packages: copying the environment: %w", err)
	}
	if err := e.runNpm(ctx, dir, specs); err != nil {
		return nil, err
	}
	after, bytes, err := e.inspect(dir, specs)
	if err != nil {
		return nil, err
	}
	if err := e.commit(dir); err != nil {
		return nil, fmt.Errorf("packages: replacing the environment: %w", err)
	}
	report := before.compare(after)
	report.Bytes, report.Duration = bytes, time.Since(started)
	return report, nil
}

// inspect checks the copy that npm has changed. It does not rely on npm's exit status.
func (e *Environment) inspect(dir string, specs []Spec) (*listing, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("packages: %w", err)
	}
	defer root.Close()
	bytes, err := measure(root, e.bytes)
	if err != nil {
		return nil, 0, spoiled(err)
	}
	after, err := readListing(root.FS())
	if err != nil {
		return nil, 0, spoiled(err)
	}
	if err := after.check(e.packages); err != nil {
		return nil, 0, spoiled(err)
	}
	for _, s := range specs {
		_, there := after.packages[modules+"/"+s.Name]
		if !there || !after.direct[s.Name] {
			return nil, 0, spoiled(fmt.Errorf("npm reported success, but it did not install %s", s.Name))
		}
	}
	return after, bytes, nil
}

// spoiled wraps an error in [Error] unless it is a [LimitError].
func spoiled(err error) error {
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		return limit
	}
	return &Error{Err: err}
}

// arguments returns npm's arguments: options and, after --, the packages.
func arguments(project, home string, specs []Spec) []string {
	args := []string{
		"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev",
		"--no-progress", "--no-update-notifier", "--color=false", "--logs-max=0",
		"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", // Timeout applies to the whole command
		"--prefix=" + project,
		"--cache=" + filepath.Join(home, "cache"),
		"--userconfig=" + filepath.Join(home, "userconfig"),
		"--globalconfig=" + filepath.Join(home, "globalconfig"),
		// Dependencies must come from the registry, too. The path of git does not exist, so that npm cannot
		// start git: a package can contain a configuration for git.
		"--allow-git=none", "--allow-remote=none", "--allow-file=none", "--allow-directory=none",
		"--git=" + filepath.Join(home, "no-git"),
		"--",
	}
	for _, s := range specs {
		args = append(args, s.String())
	}
	return args
}

func specNames(specs []Spec) string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}
