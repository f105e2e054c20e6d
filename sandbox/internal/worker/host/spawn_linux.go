package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is this executable, even if its file has been replaced or deleted.
func self() (string, error) { return "/proc/self/exe", nil }

// connect starts the process with its end of a socket and of the pipe that tells
// it that we live.
func (c *process) connect() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	host, theirs := os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "host")
	defer theirs.Close()
	alive, lives, err := os.Pipe()
	if err != nil {
		host.Close()
		return err
	}
	defer alive.Close()
	c.cmd.ExtraFiles = []*os.File{theirs, alive} // linkFD and livenessFD
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		host.Close()
		lives.Close()
		return err
	}
	c.link = newLink(host)
	c.keep = append(c.keep, lives)
	return nil
}

// wait reaps the process and ends what it has started. Before it is reaped nobody
// else can have its number, which is its group's too.
func (c *process) wait() {
	for unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.cmd.Wait()
	c.reaped = true
}

// end kills the process and what it has started.
func (c *process) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	}
}

// exiting is the flag of a process that has begun to end (PF_EXITING in the kernel).
const exiting = 4

// dying says whether the process has begun to end, of which this one has yet to hear:
// on a busy machine both take their time.
func (c *process) dying() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	name := bytes.LastIndexByte(stat, ')') // which may have anything in it
	fields := bytes.Fields(stat[name+1:])  // state, parent, group, session, terminal, its group, flags
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.Atoi(string(fields[6]))
	return err == nil && flags&exiting != 0
}

// idle says whether an idle worker is alive and keeps silent, as it must.
func (c *process) idle() bool {
	return c.link.(*hostLink).silent()
}
