//go:build !linux

package host

import (
	"errors"
	"os"
	"time"
)

// self is the file this executable was started from. If it has been replaced
// since, the worker is the new program.
func self() (string, error) { return os.Executable() }

// connect starts the process with pipes as standard input and output. A package
// that prints in its init, before the hook, spoils the handshake.
func (c *process) connect() error {
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
	c.cmd.Stdin, c.cmd.Stdout = stdin, stdout
	if err := c.cmd.Start(); err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	c.link = pipes{out, in}
	return nil
}

// wait reaps the process. What it may have started lives on.
func (c *process) wait() {
	_ = c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped = true
}

// end kills the process.
func (c *process) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = c.cmd.Process.Kill()
	}
}

// dying says whether the process has ended, of which its worker has yet to hear.
func (c *process) dying() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reaped
}

// idle says whether an idle worker is alive. That it keeps silent is not seen
// before its next run.
func (c *process) idle() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// pipes is a pair of pipes as one connection.
type pipes struct{ out, in *os.File }

func (p pipes) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

// try implements link. Nobody knows what a pipe takes without waiting.
func (p pipes) try([]byte) (int, error) { return 0, nil }

// lastWords implements link. It does nothing on Windows, where pipes have no
// deadlines.
func (p pipes) lastWords() { _ = p.out.SetReadDeadline(time.Now().Add(drain)) }
