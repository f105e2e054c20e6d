//go:build !windows

package workspace

import "os"

// persist makes sure that the names in a folder outlive a loss of power.
func persist(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
