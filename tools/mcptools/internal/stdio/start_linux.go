package stdio

import (
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// startGuarded starts the command. When the host ends, for whatever reason, the kernel kills the
// command's process group. The caller closes the guard once the command has exited.
//
// The guard is the write end of a pipe, and the command inherits the read end. When the last writer
// is gone, the kernel signals the group. PR_SET_PDEATHSIG would reach only the process itself, not
// the server that an npx has started, and it is tied to the life of a thread.
func startGuarded(cmd *exec.Cmd) (guard *os.File, err error) {
	read, guard, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	cmd.ExtraFiles = []*os.File{read}
	if err := cmd.Start(); err != nil {
		_ = guard.Close()
		return nil, err
	}
	for _, c := range []struct{ op, arg int }{
		{unix.F_SETSIG, int(unix.SIGKILL)}, {unix.F_SETOWN, -cmd.Process.Pid}, {unix.F_SETFL, unix.O_ASYNC},
	} {
		_, _ = unix.FcntlInt(read.Fd(), c.op, c.arg) // fails if the command has already exited
	}
	return guard, nil
}
