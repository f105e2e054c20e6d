// Package harden removes every right that a worker does not need from the current process:
// memory beyond a limit, files, the network, other processes. It uses resource limits, Landlock
// and seccomp where the system has them, and then tests the result by attempting everything
// that must be prevented.
package harden
