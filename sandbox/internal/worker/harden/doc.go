// Package harden takes away from the current process every right that a worker does
// not need: memory beyond a limit, files, the network, other processes. It uses
// resource limits, Landlock and seccomp where the system has them, and then tests the
// result by attempting what must be prevented.
package harden
