package worker

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// attach takes over the descriptors that the host has handed over, after making
// sure that it was the host.
func attach() (io.ReadWriter, error) {
	if err := checkHost(); err != nil {
		return nil, err
	}
	unix.CloseOnExec(linkFD)
	unix.CloseOnExec(livenessFD)
	if err := dieWithHost(); err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", livenessFD, err)
	}
	return newSocket(linkFD)
}

// checkHost makes sure that the link is a socket made by our parent.
func checkHost() error {
	cred, err := unix.GetsockoptUcred(linkFD, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", linkFD, err)
	}
	if int(cred.Pid) != os.Getppid() || int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("descriptor %d is not from the parent process", linkFD)
	}
	return nil
}

// dieWithHost has the kernel kill this process when the other end of the
// liveness pipe is closed, whatever this process is doing then. (The parent
// death signal would do so when the parent's thread ends.)
func dieWithHost() error {
	if _, err := unix.FcntlInt(livenessFD, unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(livenessFD, unix.F_SETOWN, os.Getpid()); err != nil {
		return err
	}
	flags, err := unix.FcntlInt(livenessFD, unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(livenessFD, unix.F_SETFL, flags|unix.O_ASYNC); err != nil {
		return err
	}
	return checkAlive()
}

// checkAlive sees to a host that was gone before the kernel was asked to watch.
func checkAlive() error {
	fds := []unix.PollFd{{Fd: livenessFD, Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, 0); err != nil {
		return err
	}
	if fds[0].Revents != 0 {
		return errors.New("the host is gone")
	}
	return nil
}

// leave ends the process without what os.Exit does before, which takes a second
// under the race detector.
func leave(status int) { unix.Exit(status) }
