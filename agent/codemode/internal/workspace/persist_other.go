//go:build !windows

package workspace

import "os"

// persist makes the entries of a folder durable.
func persist(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
