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

// dir keeps texts in files, named by key, each with a checksum before it. Several
// processes may share it: a file is written whole or not at all, and one that is
// damaged is as good as none.
type dir struct {
	path  string
	bytes int64 // at most

	mu   sync.Mutex
	size int64 // as far as this process knows
}

// temporary begins the names of files that are being written. Old ones are of
// processes that were killed.
const temporary = ".new-"

func openDir(path string, bytes int64) (*dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("models: the directory of the cache: %w", err)
	}
	d := &dir{path: path, bytes: bytes}
	files, err := d.files()
	if err != nil {
		return nil, fmt.Errorf("models: the directory of the cache: %w", err)
	}
	d.shrink(files)
	return d, nil
}

func (d *dir) file(key string) string {
	return filepath.Join(d.path, key[:min(2, len(key))], key+".json")
}

// get returns nil if there is nothing, or nothing whole. That it was used shows in
// the time of the file.
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
	_ = os.Chtimes(file, now, now) // it may be another user's
	return text
}

// sumOf covers the key, too: a file under another's name is damaged.
func sumOf(key string, text []byte) string {
	sum := sha256.Sum256(append([]byte(key+"\n"), text...))
	return hex.EncodeToString(sum[:])
}

func (d *dir) put(key string, text []byte) error {
	whole := append([]byte(sumOf(key, text)+"\n"), text...)
	if int64(len(whole)) > d.bytes { // it would push out all others, and not stay
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

// write replaces a file at once. Files of os.CreateTemp are the user's alone. Its time
// is as exact as where [dir.get] sets it: that of the file system is that of its last
// tick, in which others may have been written, too.
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
		_ = os.Remove(f.Name()) // there is nothing else to be done
	}
	return err
}

// own are the paths of the files of a cache, in its directory; others are left
// alone.
var own = regexp.MustCompile(`^[0-9a-f]{2}/(?:([0-9a-f]{64})\.json|\.new-\d+)$`)

// files returns what is kept, and removes what was not finished.
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
				_ = os.Remove(filepath.Join(within, file.Name())) // whoever comes next tries again
			}
		}
	}
	return list, err
}

// shrink removes the files that were used longest ago, until there is room for a
// tenth more.
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
