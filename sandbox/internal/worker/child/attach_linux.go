package child

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// attach takes over the descriptors that the host has handed over, after making
// sure that it was the host.
func attach() (io.ReadWriter, error) {
	if err := checkHost(); err != nil {
		return nil, err
	}
	unix.CloseOnExec(harden.LinkFD)
	unix.CloseOnExec(harden.LivenessFD)
	if err := dieWithHost(); err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", harden.LivenessFD, err)
	}
	if err := unix.SetNonblock(harden.LinkFD, true); err != nil { // so that os.File uses the poller
		return nil, err
	}
	return os.NewFile(harden.LinkFD, "host"), nil
}

// checkHost makes sure that the link is a socket made by our parent.
func checkHost() error {
	cred, err := unix.GetsockoptUcred(harden.LinkFD, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", harden.LinkFD, err)
	}
	if int(cred.Pid) != os.Getppid() || int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("descriptor %d is not from the parent process", harden.LinkFD)
	}
	return nil
}

// dieWithHost has the kernel kill this process when the other end of the
// liveness pipe is closed, whatever this process is doing then. (The parent
// death signal would do so when the parent's thread ends.)
func dieWithHost() error {
	if _, err := unix.FcntlInt(harden.LivenessFD, unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(harden.LivenessFD, unix.F_SETOWN, os.Getpid()); err != nil {
		return err
	}
	flags, err := unix.FcntlInt(harden.LivenessFD, unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(harden.LivenessFD, unix.F_SETFL, flags|unix.O_ASYNC); err != nil {
		return err
	}
	return checkAlive()
}

// checkAlive sees to a host that was gone before the kernel was asked to watch.
func checkAlive() error {
	fds := []unix.PollFd{{Fd: harden.LivenessFD, Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, 0); err != nil {
		return err
	}
	if fds[0].Revents != 0 {
		return errors.New("the host is gone")
	}
	return nil
}
