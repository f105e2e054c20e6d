package packages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// The defaults of [Options].
const (
	DefaultTimeout     = 2 * time.Minute
	DefaultMaxPackages = 300
	DefaultMaxBytes    = 256 << 20
)

// Options limit what may be installed in an environment. Nil means the defaults.
type Options struct {
	// Allow lists the packages that may be installed, and imported by programs: names, or patterns of [path.Match]:
	// lodash-es, date-*, @scope/*. A * does not match a slash, so * alone allows every package without a scope, and
	// @*/* every package with one. If Allow is empty, no packages are allowed. The dependencies of an allowed package
	// are installed with it, regardless of their names, but programs cannot import them.
	Allow []string

	// Timeout is how long one npm process may run. Zero means [DefaultTimeout].
	Timeout time.Duration
	// MaxPackages is the maximum number of packages, including dependencies. Zero means [DefaultMaxPackages].
	MaxPackages int
	// MaxBytes is the maximum disk space of the packages, counted in blocks of 4 KiB. The copy in which a running
	// installation takes place, the files that it downloads, and the previous installation, which is kept, take
	// additional space. Zero means [DefaultMaxBytes].
	MaxBytes int64

	// Npm is the npm executable. Empty means the npm in PATH.
	Npm string
	// Env names variables of the host that npm inherits, if they are set, such as HTTPS_PROXY or npm_config_registry.
	// It always has PATH and NODE_EXTRA_CA_CERTS, and on Windows the variables without which no process starts; its
	// HOME is a private empty folder. The values of the named variables are not shown in messages.
	Env []string
}

// Environment is a folder of npm packages. It is safe for concurrent use, and any number of processes may use the
// folder, on one machine or on a file system whose locks work across machines.
type Environment struct {
	dir   string
	o     Options
	allow allowList
	lock  *lockedfile.Mutex
	turn  chan struct{} // held by the goroutine that has the lock or waits for it
}

// New opens the environment in the folder dir. It creates the folder if it does not exist, but not the parent, which
// another process may just have removed. A folder that was prepared by hand with npm install is used unchanged. The
// first change makes a copy next to its packages, and from then on, only the copy is used. New returns an error if
// the options are invalid or the file system reports an error.
func New(dir string, o *Options) (*Environment, error) {
	if o == nil {
		o = &Options{}
	}
	allow, err := newAllowList(o.Allow)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 || o.MaxPackages < 0 || o.MaxBytes < 0 {
		return nil, errors.New("packages: a limit in the options is negative; use zero for the default")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("packages: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("packages: creating the folder of an environment: %w", err)
	}
	return &Environment{
		dir:   dir,
		o:     o.defaults(),
		allow: allow,
		lock:  lockedfile.MutexAt(filepath.Join(dir, lockName)),
		turn:  make(chan struct{}, 1),
	}, nil
}

func (o Options) defaults() Options {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.MaxPackages = cmp.Or(o.MaxPackages, DefaultMaxPackages)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	return o
}

// acquire waits until no other change of the environment is in progress, in any process.
func (e *Environment) acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type result struct {
		unlock func()
		err    error
	}
	locked := make(chan result, 1)
	go func() { // waiting for a lock between processes cannot be canceled
		unlock, err := e.lock.Lock()
		locked <- result{unlock, err}
	}()
	finish := func(r result) {
		if r.err == nil {
			r.unlock()
		}
		<-e.turn
	}
	select {
	case r := <-locked:
		if r.err != nil {
			finish(r)
			return nil, fmt.Errorf("packages: locking an environment: %w", r.err)
		}
		return func() { finish(r) }, nil
	case <-ctx.Done():
		go func() { finish(<-locked) }()
		return nil, context.Cause(ctx)
	}
}
