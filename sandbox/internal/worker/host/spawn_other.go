//go:build !linux

package host

import (
	"errors"
	"os"
	"time"
)

// self returns the path from which this executable was started. If the file has been
// replaced since then, the worker is the new program.
func self() (string, error) { return os.Executable() }

// connect starts the process with pipes as standard input and output. A package that
// prints in its init breaks the handshake.
func (p *process) connect() error {
	stdin, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer stdout.Close()
	p.cmd.Stdin, p.cmd.Stdout = stdin, stdout
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	p.link = pipes{out, in}
	return nil
}

// wait waits for the process. Processes that it started survive.
func (p *process) wait() {
	_ = p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
}

// end kills the process.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = p.cmd.Process.Kill()
	}
}

// idle reports whether a worker without a job is alive. If the worker has written anything in the meantime, the
// next run finds it.
func (p *process) idle() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// pipes is a connection of two pipes.
type pipes struct{ out, in *os.File }

func (p pipes) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

// tryWrite implements link. It writes nothing, because a write to a pipe may block.
func (p pipes) tryWrite([]byte) (int, error) { return 0, nil }

// expire implements link. It has no effect on Windows, where pipes have no deadlines.
func (p pipes) expire() { _ = p.out.SetReadDeadline(time.Now().Add(drainTime)) }
