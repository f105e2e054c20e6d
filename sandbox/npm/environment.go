package npm

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

// What [Options] default to.
const (
	DefaultTimeout     = 2 * time.Minute
	DefaultMaxPackages = 300
	DefaultMaxBytes    = 256 << 20
)

// Options bound what an environment may become. Nil takes all defaults.
type Options struct {
	// Allow lists the packages that may be installed, and imported by programs:
	// names, or patterns of [path.Match]: lodash-es, date-*, @scope/*. A * does not
	// stand for a slash, so that * alone allows every package without a scope, and
	// @*/* every one with. Empty: none. What an allowed package depends on comes
	// with it, whatever its name, but cannot be imported by name.
	Allow []string

	// Timeout is how long one npm process may run. Zero: [DefaultTimeout].
	Timeout time.Duration
	// MaxPackages is how many packages there may be, dependencies included. Zero:
	// [DefaultMaxPackages].
	MaxPackages int
	// MaxBytes is how much room they may take on the disk, counted in blocks of
	// 4 KiB. While an installation runs, the copy in which it happens and what was
	// fetched for it take room beside that, and the installation before the
	// present one is kept. Zero: [DefaultMaxBytes].
	MaxBytes int64

	// Npm is the npm executable. Empty: the npm found in PATH.
	Npm string
	// Env names variables of the host that npm inherits, if they are set, such as
	// HTTPS_PROXY or npm_config_registry. It always has PATH and
	// NODE_EXTRA_CA_CERTS, and on Windows what no process starts without; its HOME
	// is a private empty folder. Empty: nothing else. The values of what is named
	// here are not shown in messages.
	Env []string
}

// Environment is a folder of npm packages. It is safe for concurrent use, and so
// is the folder, by any number of processes on one machine or on a file system
// whose locks hold between machines.
type Environment struct {
	dir   string
	o     Options
	allow allowList
	lock  *lockedfile.Mutex
	turn  chan struct{} // held by who has the lock or waits for it
}

// New opens the environment in the folder dir and makes the folder if there is
// none, but not its parent, which somebody may just have removed. A folder that was prepared by hand, with npm install in it, is taken as it
// is; the first change makes a copy beside it, and it is not looked at again. The
// errors are those of the options and of the file system.
func New(dir string, o *Options) (*Environment, error) {
	if o == nil {
		o = &Options{}
	}
	allow, err := newAllowList(o.Allow)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 || o.MaxPackages < 0 || o.MaxBytes < 0 {
		return nil, errors.New("npm: a limit in the options is negative; use zero for the default")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("npm: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("npm: creating the folder of an environment: %w", err)
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

// acquire waits until nobody else, in any process, changes the environment.
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
	go func() { // a lock between processes can't be waited for with a context
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
			return nil, fmt.Errorf("npm: locking an environment: %w", r.err)
		}
		return func() { finish(r) }, nil
	case <-ctx.Done():
		go func() { finish(<-locked) }()
		return nil, context.Cause(ctx)
	}
}
