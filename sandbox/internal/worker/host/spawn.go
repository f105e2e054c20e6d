package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// drain is how long what a dead worker has written is still read. Only a process
// that it has started, and that got away, could write for longer.
const drain = 2 * time.Second

// breaths are the steps in which that comes to its end: a host that stands still for so
// long takes one of them, and reads what is there in the next.
const breaths = 10

// process is the process of a worker.
type process struct {
	cmd    *exec.Cmd
	link   link          // to what the worker reads and writes
	keep   []io.Closer   // what has to stay open as long as the process lives
	log    *stderrLog    // its standard error
	exited chan struct{} // closed when it is reaped; cmd.ProcessState is set then

	mu     sync.Mutex
	reaped bool // its number may be another's now
}

// command returns the command of a worker, which has yet to get its descriptors.
func command(o *Options, token string) (*exec.Cmd, error) {
	path, args, err := executable(o)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path,
		Args: append([]string{child.Marker + o.Kind}, args...),
		Dir:  string(os.PathSeparator),
		Env:  []string{child.TokenEnv + "=" + token, "GOMAXPROCS=" + strconv.Itoa(child.Processors)},
	}
	for _, name := range o.InheritEnv {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd, nil
}

// executable returns what to start.
func executable(o *Options) (path string, args []string, err error) {
	if len(o.Command) > 0 {
		return o.Command[0], o.Command[1:], nil
	}
	if !child.Registered(o.Kind) {
		return "", nil, fmt.Errorf("nothing in this program can become a worker of kind %q: import the package that has its hook, or set a command", o.Kind)
	}
	if mode := buildMode(); mode != "" && mode != "exe" && mode != "pie" {
		return "", nil, fmt.Errorf("this code was built with -buildmode=%s, so the running executable is another program: set a command that is a worker", mode)
	}
	path, err = self()
	return path, nil, err
}

// buildMode returns the mode this code was built in, if that is known.
func buildMode() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-buildmode" {
			return s.Value
		}
	}
	return ""
}

// start starts the process. Whatever happens to it, it is reaped.
func start(o *Options, token string) (*process, error) {
	cmd, err := command(o, token)
	if err != nil {
		return nil, err
	}
	c := &process{cmd: cmd, log: &stderrLog{}, exited: make(chan struct{})}
	stderr, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd.Stderr = w
	if err := c.connect(); err != nil {
		stderr.Close()
		return nil, err
	}
	go c.reap(stderr)
	return c, nil
}

// reap waits for the end of the process and of what it has written.
func (c *process) reap(stderr *os.File) {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, err := io.Copy(c.log, stderr)
		for n := 1; n < breaths && errors.Is(err, os.ErrDeadlineExceeded); n++ {
			_ = stderr.SetReadDeadline(time.Now().Add(drain / breaths))
			_, err = io.Copy(c.log, stderr)
		}
	}()
	c.wait()
	_ = stderr.SetReadDeadline(time.Now().Add(drain / breaths))
	<-copied
	stderr.Close()
	c.link.lastWords()
	for _, k := range c.keep {
		k.Close()
	}
	close(c.exited)
}

// kill ends the process and the connection.
func (c *process) kill() {
	c.end()
	c.link.Close()
}
