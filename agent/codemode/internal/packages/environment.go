package packages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Timeout is how long one npm process may run.
const Timeout = 2 * time.Minute

const (
	maxInstalled = 300       // packages in an environment, including dependencies
	maxBytes     = 256 << 20 // bytes of disk space that the packages use
)

// Options say which packages may be installed in an environment, and how.
type Options struct {
	// Allow lists the packages that may be installed, and imported by programs: names, or patterns of [path.Match]:
	// lodash-es, date-*, @scope/*. A * does not match a slash, so * alone allows every package without a scope, and
	// @*/* every package with a scope. If Allow is empty, no packages are allowed. The dependencies of an allowed
	// package are installed with it, regardless of their names, but programs cannot import them.
	Allow []string

	// Env names the host's environment variables that npm inherits if they are set, such as HTTPS_PROXY or
	// npm_config_registry. npm always has PATH and NODE_EXTRA_CA_CERTS, and on Windows the variables that Node.js needs
	// to start; its HOME is a private empty folder. The values of the named variables are not shown in messages.
	Env []string
}

// Environment is a folder of npm packages. Any number of goroutines and processes may read it. The caller makes sure
// that only one of them changes it at a time.
type Environment struct {
	dir   string
	allow allowList
	env   []string
	limits
}

// limits are the same for all environments, except in tests.
type limits struct {
	npm      string // the executable
	timeout  time.Duration
	packages int
	bytes    int64
}

// New opens the environment in the folder dir. It creates the folder if it does not exist, but not the parent, which
// another process may have just removed. A folder that was prepared by hand with npm install is used unchanged. The
// first change makes a copy next to its packages, and from then on, only the copy is used.
func New(dir string, o Options) (*Environment, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("packages: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("packages: creating the folder of an environment: %w", err)
	}
	return &Environment{
		dir: dir, allow: o.Allow, env: o.Env,
		limits: limits{npm: "npm", timeout: Timeout, packages: maxInstalled, bytes: maxBytes},
	}, nil
}

// Allows reports whether a package may be installed and imported.
func (e *Environment) Allows(name string) bool { return e.allow.has(name) }
