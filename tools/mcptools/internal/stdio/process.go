package stdio

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/procgroup"
	"github.com/writ-go/writ/internal/tail"
)

const (
	stderrKept = 8 << 10          // bytes of stderr kept for error messages
	drainTime  = 2 * time.Second  // how long to read the remaining output from a dead process's pipes
	killTime   = 10 * time.Second // how long the system may take to end a killed process
)

// process is a running server and everything that it started. It runs until it exits or end is called, independent of
// any context.
type process struct {
	cmd    *exec.Cmd
	grace  time.Duration
	stdin  io.WriteCloser
	stdout *os.File
	guard  *os.File // see startGuarded; may be nil
	stderr tail.Buffer

	reaped chan struct{} // closed when the process has exited
	exit   error         // of the process; valid once reaped is closed
	done   chan struct{} // closed when its group has been killed and its stderr has been read

	once   sync.Once
	endErr error
}

// startProcess starts cmd in its own process group.
func startProcess(cmd *exec.Cmd, grace time.Duration) (*process, error) {
	p := &process{
		cmd:    cmd,
		grace:  grace,
		stderr: tail.Buffer{Max: stderrKept},
		reaped: make(chan struct{}),
		done:   make(chan struct{}),
	}
	stderr, err := p.start()
	if err != nil {
		return nil, err
	}
	go p.wait(stderr)
	return p, nil
}

// start opens the pipes and starts the process. It does not use the pipes of package exec,
// whose Wait closes stdout before its last lines have been read and waits for a grandchild
// that holds stderr.
func (p *process) start() (stderr *os.File, err error) {
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	stdout, stdoutW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	files = append(files, stdout, stdoutW)
	stderr, stderrW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	files = append(files, stderr, stderrW)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.stdout, p.cmd.Stdout, p.cmd.Stderr = stdout, stdoutW, stderrW
	procgroup.Set(p.cmd)
	if p.guard, err = startGuarded(p.cmd); err != nil {
		return nil, err
	}
	closeAll([]*os.File{stdoutW, stderrW}) // the child has its own copies
	return stderr, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wait waits for the process to exit. It then kills the rest of its process group immediately,
// before another group can have the same ID.
func (p *process) wait(stderr *os.File) {
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(&p.stderr, stderr)
		close(drained)
	}()
	p.exit = p.cmd.Wait()
	close(p.reaped)
	procgroup.Kill(p.cmd.Process.Pid)
	_ = p.guard.Close()
	// A process that left the group may still hold the pipes.
	_ = p.stdout.SetReadDeadline(time.Now().Add(drainTime))
	select {
	case <-drained:
	case <-time.After(drainTime):
	}
	_ = stderr.Close()
	close(p.done)
}

// end stops the process as the protocol prescribes: it closes stdin, then sends SIGTERM, then
// SIGKILL; and waits until the process is gone. It may be called repeatedly and concurrently.
func (p *process) end() error {
	p.once.Do(func() { p.endErr = p.shutDown() })
	return p.endErr
}

func (p *process) shutDown() error {
	pid := p.cmd.Process.Pid
	defer func() { _ = p.stdout.Close() }()
	_ = p.stdin.Close()
	if !p.exits(p.grace) {
		procgroup.Terminate(pid)
		if !p.exits(p.grace) {
			procgroup.Kill(pid)
		}
	}
	if !p.exits(killTime) {
		return fmt.Errorf("process %d is still running after SIGKILL; stop it by hand", pid)
	}
	<-p.done
	return nil
}

// exits reports whether the process exits within d.
func (p *process) exits(d time.Duration) bool {
	select {
	case <-p.reaped:
		return true
	case <-time.After(d):
		return false
	}
}

// status returns how the process ended: "exit status 1" or "signal: killed".
func (p *process) status() string {
	if p.exit == nil {
		return "exit status 0"
	}
	return p.exit.Error()
}
