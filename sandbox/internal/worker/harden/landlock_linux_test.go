package harden

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestVersions checks that a kernel that supports a version supports all earlier ones.
func TestVersions(t *testing.T) {
	t.Parallel()
	known := false
	for _, v := range versions {
		set, errno := v.create()
		if errno == 0 {
			unix.Close(set)
		}
		if known && errno != 0 {
			t.Errorf("%+v: %v", v, errno)
		}
		known = known || errno == 0
	}
	if version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_VERSION); !known && int(version) > 0 {
		t.Error("there is no version")
	}
}
