// Package atomicfile writes files that are complete after a crash.
package atomicfile

import (
	"errors"
	"os"
	"path"
	"runtime"
)

// Write writes a file and makes it durable. After a crash, the file has either the old or the new content. temp is the
// name of a temporary file in the same folder, which a crash may leave behind.
func Write(root *os.Root, temp, name string, text ...[]byte) error {
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, part := range text {
		if err == nil {
			_, err = file.Write(part)
		}
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	return SyncFolder(root.Open(path.Dir(name)))
}

// SyncFolder makes the names of a folder's entries durable, and closes the folder. It returns err if it is set.
func SyncFolder(folder *os.File, err error) error {
	if err == nil && runtime.GOOS != "windows" { // Windows cannot sync a folder
		err = folder.Sync()
	}
	_ = folder.Close()
	return err
}
