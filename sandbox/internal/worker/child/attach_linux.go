package child

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// attach returns the connection to the host, after checking that the parent process
// made it.
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

// checkHost returns an error unless the connection is a socket that the parent process made.
func checkHost() error {
	cred, err := unix.GetsockoptUcred(harden.LinkFD, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", harden.LinkFD, err)
	}
	if int(cred.Pid) != os.Getppid() || int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the parent process did not make the socket at descriptor %d", harden.LinkFD)
	}
	return nil
}

// dieWithHost makes the kernel kill this process when the other end of the liveness pipe is closed, whatever
// this process is doing. (A parent death signal would come as soon as the thread that started this process
// ends.)
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

// checkAlive returns an error if the host died before the kernel began to watch the pipe.
func checkAlive() error {
	fds := []unix.PollFd{{Fd: harden.LivenessFD, Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, 0); err != nil {
		return err
	}
	if fds[0].Revents != 0 {
		return errors.New("the host has died")
	}
	return nil
}
