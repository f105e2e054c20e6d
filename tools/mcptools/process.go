package mcptools

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	stderrKept = 8 << 10          // bytes of stderr kept for messages
	drainTime  = 2 * time.Second  // for what is left in the pipes of a dead process
	killTime   = 10 * time.Second // for the system to end a killed process
)

// process is a running server with everything that it started. It belongs to no
// context: it lives until end is called or it ends by itself.
type process struct {
	cmd    *exec.Cmd
	grace  time.Duration
	stdin  io.WriteCloser
	stdout *os.File
	stderr tail

	reaped chan struct{} // closed when the process has ended
	exit   error         // how; valid once reaped is closed
	done   chan struct{} // closed when its group has ended and its stderr been read

	once   sync.Once
	endErr error
}

// startProcess starts cmd in a process group of its own.
func startProcess(cmd *exec.Cmd, grace time.Duration) (*process, error) {
	p := &process{
		cmd:    cmd,
		grace:  grace,
		stderr: tail{max: stderrKept},
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

// start opens the pipes and starts the process. The pipes are our own, not
// exec's, whose Wait closes stdout before its last lines have been read, and
// waits for a grandchild that holds stderr.
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
	setGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	closeAll([]*os.File{stdoutW, stderrW}) // the child has its own
	return stderr, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wait follows the process to its end. The rest of the group goes with it, now,
// while no other group can have taken the number.
func (p *process) wait(stderr *os.File) {
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(&p.stderr, stderr)
		close(drained)
	}()
	p.exit = p.cmd.Wait()
	close(p.reaped)
	killGroup(p.cmd.Process.Pid)
	// A process that left the group may still hold the pipes.
	_ = p.stdout.SetReadDeadline(time.Now().Add(drainTime))
	select {
	case <-drained:
	case <-time.After(drainTime):
	}
	_ = stderr.Close()
	close(p.done)
}

// end ends the process as the protocol says: close its stdin, then ask, then
// kill; and waits until it is gone. It may be called again and concurrently.
func (p *process) end() error {
	p.once.Do(func() { p.endErr = p.shutDown() })
	return p.endErr
}

func (p *process) shutDown() error {
	pid := p.cmd.Process.Pid
	defer func() { _ = p.stdout.Close() }()
	_ = p.stdin.Close()
	if !p.ends(p.grace) {
		terminateGroup(pid)
		if !p.ends(p.grace) {
			killGroup(pid)
		}
	}
	if !p.ends(killTime) {
		return fmt.Errorf("process %d did not end when killed", pid)
	}
	<-p.done
	return nil
}

// ends reports whether the process ends within d.
func (p *process) ends(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.reaped:
		return true
	case <-timer.C:
		return false
	}
}

// status says how the process ended: "exit status 1", "signal: killed".
func (p *process) status() string {
	var exit *exec.ExitError
	switch {
	case p.exit == nil:
		return "exit status 0"
	case errors.As(p.exit, &exit):
		return exit.Error()
	default:
		return p.exit.Error()
	}
}
