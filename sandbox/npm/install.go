package npm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What npm is told to do.
const (
	install   = "install"
	uninstall = "uninstall"
)

// Report says what a change of an environment did.
type Report struct {
	Added    []Change      `json:"added"`
	Updated  []Change      `json:"updated"`
	Removed  []Change      `json:"removed"`
	Packages int           `json:"packages"` // that there are now, dependencies included
	Bytes    int64         `json:"bytes"`    // the room they take
	Duration time.Duration `json:"duration"` // nanoseconds, with the wait for one's turn
}

// Change is one package that came, went or has another version.
type Change struct {
	Name     string `json:"name"`
	Version  string `json:"version"`            // now; of a removed one, what it was
	Previous string `json:"previous,omitempty"` // of an updated one
	Direct   bool   `json:"direct"`             // named by somebody, not only a dependency of another
}

// Error says that npm ran and did not do what it was to. The environment is as
// it was.
type Error struct {
	Output string // npm's last lines, without the paths and secrets of the host
	Err    error  // wraps context.DeadlineExceeded after Options.Timeout
}

func (e *Error) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("npm: nothing was changed: %v", e.Err)
	}
	return fmt.Sprintf("npm: nothing was changed: %v. npm's last lines:\n%s", e.Err, e.Output)
}

func (e *Error) Unwrap() error { return e.Err }

// LimitError says that a change would exceed a limit of [Options], so that the
// environment is as it was.
type LimitError struct {
	What  string // "packages" or "bytes"
	Limit int64
	Got   int64 // where counting stopped
}

// Error says which limit it is.
func (e *LimitError) Error() string {
	return fmt.Sprintf("npm: nothing was changed: there would be %d %s or more, and the limit is %d", e.Got, e.What,
		e.Limit)
}

// Install installs packages, given as name or name@version, where the version is
// a version, a range or a tag. It waits until nobody else changes the environment.
//
// All that is refused is reported at once, as [*SpecError], before anything
// starts. If npm fails or takes too long the error is a [*Error], and a
// [*LimitError] if the environment would grow too large; nothing has changed then,
// nor if the process is killed in between.
func (e *Environment) Install(ctx context.Context, specs []string) (*Report, error) {
	parsed, err := e.allow.specs(specs)
	if err != nil {
		return nil, err
	}
	return e.change(ctx, install, parsed)
}

// Remove uninstalls packages that were installed by name, with the dependencies
// that nobody else needs. It waits, and fails, as [Environment.Install] does.
func (e *Environment) Remove(ctx context.Context, names ...string) (*Report, error) {
	if err := errors.Join(checkCount(len(names)), checkNames(names)); err != nil {
		return nil, err
	}
	specs := make([]Spec, len(names))
	for i, name := range names {
		specs[i] = Spec{Name: name}
	}
	return e.change(ctx, uninstall, specs)
}

// change lets npm work on a copy, looks at what came of it and puts it in place.
func (e *Environment) change(ctx context.Context, verb string, specs []Spec) (_ *Report, err error) {
	started := time.Now()
	release, err := e.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("npm: waiting for another change of the environment: %w", err)
	}
	defer release()
	defer e.sweep()
	e.sweep()
	before, err := e.listing()
	if err != nil {
		return nil, err
	}
	if verb == uninstall {
		if err := before.mustHave(specs); err != nil {
			return nil, err
		}
	}
	dir, err := e.begin()
	if err != nil {
		return nil, fmt.Errorf("npm: copying the environment: %w", err)
	}
	if err := e.runNpm(ctx, dir, verb, specs); err != nil {
		return nil, err
	}
	after, bytes, err := e.inspect(dir, verb, specs)
	if err != nil {
		return nil, err
	}
	if err := e.commit(dir); err != nil {
		return nil, fmt.Errorf("npm: putting the changed environment in place: %w", err)
	}
	report := before.compare(after)
	report.Bytes, report.Duration = bytes, time.Since(started)
	return report, nil
}

// mustHave refuses to remove what nobody installed.
func (l *listing) mustHave(specs []Spec) error {
	var errs []error
	for _, s := range specs {
		if !l.direct[s.Name] {
			errs = append(errs, &SpecError{s.Name, "not installed by name, so it can't be removed"})
		}
	}
	return errors.Join(errs...)
}

// inspect refuses what must not take the environment's place, whatever npm said
// of its success.
func (e *Environment) inspect(dir, verb string, specs []Spec) (*listing, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("npm: %w", err)
	}
	defer root.Close()
	bytes, err := measure(root, e.o.MaxBytes)
	if err != nil {
		return nil, 0, spoiled(err)
	}
	after, err := readListing(root.FS())
	if err != nil {
		return nil, 0, spoiled(err)
	}
	if err := after.check(e.o.MaxPackages); err != nil {
		return nil, 0, spoiled(err)
	}
	for _, s := range specs {
		_, there := after.packages[modules+"/"+s.Name]
		if wanted := verb == install; after.direct[s.Name] != wanted || wanted && !there {
			return nil, 0, spoiled(fmt.Errorf("npm reported success, but it did not %s %s", verb, s.Name))
		}
	}
	return after, bytes, nil
}

// spoiled makes a finding an error of npm's, unless it is a limit.
func spoiled(err error) error {
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		return limit
	}
	return &Error{Err: err}
}

// arguments are what npm is called with: options first, and after the -- what can
// only be packages.
func arguments(verb, project, home string, specs []Spec) []string {
	args := []string{
		verb, "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev",
		"--no-progress", "--no-update-notifier", "--color=false", "--logs-max=0",
		"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", // the whole has a deadline
		"--prefix=" + project,
		"--cache=" + filepath.Join(home, "cache"),
		"--userconfig=" + filepath.Join(home, "userconfig"),
		"--globalconfig=" + filepath.Join(home, "globalconfig"),
		// What a package depends on comes from the registry too, and git, whose
		// configuration a package can bring, is not started.
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
