package host

import (
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

// drainTime is how long a dead worker's output is still read. Only a surviving process that the worker started could
// write for longer.
const drainTime = 2 * time.Second

// process is a worker's operating system process.
type process struct {
	cmd    *exec.Cmd
	link   link          // the host's end of the connection
	keep   []io.Closer   // stay open as long as the process lives
	log    *stderrLog    // its standard error
	ended  chan struct{} // closed when the process has ended, if the system reports it before Wait returns
	exited chan struct{} // closed after Wait; cmd.ProcessState is set then

	mu     sync.Mutex
	reaped bool // the process is gone, so that its ID may belong to another process
}

// command returns the command that starts a worker.
func command(o *Options, token string) (*exec.Cmd, error) {
	path, args, err := executable(o)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path:      path,
		Args:      append([]string{child.Marker + o.Kind}, args...),
		Dir:       string(os.PathSeparator),
		Env:       []string{child.TokenEnv + "=" + token, "GOMAXPROCS=" + strconv.Itoa(child.Processors)},
		WaitDelay: drainTime,
	}
	return cmd, nil
}

// executable returns the program that becomes the worker, and its arguments.
func executable(o *Options) (path string, args []string, err error) {
	if len(o.Command) > 0 {
		return o.Command[0], o.Command[1:], nil
	}
	if !child.Registered(o.Kind) {
		return "", nil, fmt.Errorf("this program cannot become a worker of kind %q: "+
			"import the package that registers the kind, or set Options.Command", o.Kind)
	}
	if mode := buildMode(); mode != "" && mode != "exe" && mode != "pie" {
		return "", nil, fmt.Errorf("this code was built with -buildmode=%s, so the running executable "+
			"cannot become a worker: set Options.Command to a worker program", mode)
	}
	path, err = self()
	return path, nil, err
}

// buildMode returns the mode in which this code was built, or "" if it is unknown.
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

// start starts a worker process and waits for it in the background.
func start(o *Options, token string) (*process, error) {
	cmd, err := command(o, token)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: &stderrLog{}, ended: make(chan struct{}), exited: make(chan struct{})}
	cmd.Stderr = p.log
	if err := p.connect(); err != nil {
		return nil, err
	}
	go func() {
		p.wait()
		p.link.expire()
		for _, k := range p.keep {
			k.Close()
		}
		close(p.exited)
	}()
	return p, nil
}

// kill ends the process and closes the connection.
func (p *process) kill() {
	p.end()
	p.link.Close()
}
