package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// dir stores texts in files named by key, each after a checksum. Several processes may
// share it: files are replaced atomically, and damaged files are ignored.
type dir struct {
	path  string
	bytes int64 // limit

	mu   sync.Mutex
	size int64 // an estimate, since other processes write too
}

// temporary is the prefix of files that are being written. Old ones were left by killed
// processes.
const temporary = ".new-"

func openDir(path string, bytes int64) (*dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("models: cache directory: %w", err)
	}
	d := &dir{path: path, bytes: bytes}
	files, err := d.files()
	if err != nil {
		return nil, fmt.Errorf("models: cache directory: %w", err)
	}
	d.shrink(files)
	return d, nil
}

func (d *dir) file(key string) string {
	return filepath.Join(d.path, key[:min(2, len(key))], key+".json")
}

// get returns a text, or nil if it is missing or damaged. It updates the file's time for
// eviction.
func (d *dir) get(key string) []byte {
	file := d.file(key)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > d.bytes {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	sum, text, _ := bytes.Cut(text, []byte("\n"))
	if string(sum) != sumOf(key, text) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(file, now, now) // fails if the file belongs to another user
	return text
}

// sumOf includes the key, so that a renamed file counts as damaged.
func sumOf(key string, text []byte) string {
	sum := sha256.Sum256(append([]byte(key+"\n"), text...))
	return hex.EncodeToString(sum[:])
}

func (d *dir) put(key string, text []byte) error {
	whole := append([]byte(sumOf(key, text)+"\n"), text...)
	if int64(len(whole)) > d.bytes { // too large to store
		return nil
	}
	file := d.file(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := write(file, whole); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size += int64(len(whole)); d.size <= d.bytes {
		return nil
	}
	files, err := d.files()
	if err == nil {
		d.shrink(files)
	}
	return err
}

// write replaces a file atomically. It sets the time explicitly, since the clock of a file
// system may be too coarse to order files for eviction.
func write(file string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		now := time.Now()
		err = os.Chtimes(f.Name(), now, now)
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // best effort
	}
	return err
}

// own matches the paths of a cache's files. Other files are left alone.
var own = regexp.MustCompile(`^[0-9a-f]{2}/(?:([0-9a-f]{64})\.json|\.new-\d+)$`)

// files returns the stored files and removes abandoned temporary ones.
func (d *dir) files() ([]fs.FileInfo, error) {
	folders, err := os.ReadDir(d.path)
	var list []fs.FileInfo
	for _, folder := range folders {
		if len(folder.Name()) != 2 || !folder.IsDir() {
			continue
		}
		within := filepath.Join(d.path, folder.Name())
		files, _ := os.ReadDir(within) // another process may have removed it
		for _, file := range files {
			name := own.FindStringSubmatch(folder.Name() + "/" + file.Name())
			info, err := file.Info()
			switch {
			case err != nil || name == nil || !info.Mode().IsRegular():
			case name[1] != "":
				list = append(list, info)
			case time.Since(info.ModTime()) > time.Hour:
				_ = os.Remove(filepath.Join(within, file.Name())) // best effort
			}
		}
	}
	return list, err
}

// shrink removes the least recently used files until a tenth of the limit is free.
func (d *dir) shrink(files []fs.FileInfo) {
	d.size = 0
	for _, f := range files {
		d.size += f.Size()
	}
	if d.size <= d.bytes {
		return
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if d.size <= d.bytes-d.bytes/10 {
			return
		}
		if os.Remove(d.file(strings.TrimSuffix(f.Name(), ".json"))) == nil {
			d.size -= f.Size()
		}
	}
}
