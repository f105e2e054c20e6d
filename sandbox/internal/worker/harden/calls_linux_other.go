//go:build linux && !amd64 && !arm64

package harden

import "golang.org/x/sys/unix"

// auditArch is 0 because there is no tested list of system calls for this architecture.
const auditArch = 0

var callAnswers map[uint32]unix.Errno

func callRules(int) []rule { return nil }
