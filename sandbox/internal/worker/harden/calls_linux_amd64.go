package harden

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	setFS     = 0x1002 // ARCH_SET_FS
)

// archRules allow the call with which Go sets up the thread-local storage of a new thread.
var archRules = []rule{{unix.SYS_ARCH_PRCTL, []arg{{index: 0, values: []uint32{setFS}}}}}
