//go:build !linux

package worker

import "os"

func descriptors() []string { return nil }

func closeLink() { os.Stdin.Close() }
