//go:build !unix

package docs_test

import "os/exec"

func together(*exec.Cmd) {}
