//go:build !linux

package stdio

import (
	"os"
	"os/exec"
)

// startGuarded starts the command. Only Linux has a guard.
func startGuarded(cmd *exec.Cmd) (guard *os.File, err error) { return nil, cmd.Start() }
