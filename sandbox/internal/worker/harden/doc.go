// Package harden removes from the current process every right that a worker does not need: access to memory beyond a
// limit, files, the network and other processes. It uses resource limits, Landlock and seccomp where the system has
// them. Then it attempts every forbidden operation, to test that each fails.
package harden
