package host

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// self returns the path of this executable, which works even if the file has been
// replaced or deleted.
func self() (string, error) { return "/proc/self/exe", nil }

// connect starts the process. The process inherits its end of a socket and its end of a pipe that breaks when
// the host dies.
func (p *process) connect() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "host")
	defer theirs.Close()
	alive, lives, err := os.Pipe()
	if err != nil {
		ours.Close()
		return err
	}
	defer alive.Close()
	p.cmd.ExtraFiles = []*os.File{theirs, alive} // harden.LinkFD and harden.LivenessFD
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		ours.Close()
		lives.Close()
		return err
	}
	p.link = newLink(ours)
	p.keep = append(p.keep, lives)
	return nil
}

// wait waits for the process and kills the processes that it started. Until Wait returns, no other process or process
// group can have the process's ID, which is also its group's ID.
func (p *process) wait() {
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(p.ended)
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Wait()
	p.reaped = true
}

// end kills the process and the processes that it started.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
}

// idle reports whether a worker without a job is alive and has sent nothing.
func (p *process) idle() bool { return p.link.(*socket).silent() }
