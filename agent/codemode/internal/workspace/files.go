package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/atomicfile"
)

// File is a code file.
type File struct {
	Handle string
	Name   string // as the caller passed it
	Size   int64  // bytes
}

func fileOf(handle string, info os.FileInfo) File {
	name, _ := nameOf(handle)
	return File{Handle: handle, Name: name, Size: info.Size()}
}

// NewFile creates a code file. Its handle is the name with a random part. The error is [ErrName] if the name is
// invalid, and [ErrLimit] if the owner would exceed a limit. A name consists of letters from a to z, digits, dots,
// hyphens and underscores. When NewFile has returned, the file survives a crash.
func (s *Space) NewFile(ctx context.Context, name, content string) (File, error) {
	if err := validName(name); err != nil {
		return File{}, err
	}
	var made File
	err := s.change(ctx, files, func(folder *os.Root) (err error) {
		have, err := s.usage(folder)
		if err == nil {
			err = s.store.limits.admits(have, 1, 0, int64(len(content)))
		}
		if err == nil {
			made, err = write(folder, unused(folder, name), []byte(content))
		}
		return err
	})
	return made, err
}

// unused returns a new handle with the name. The folder has no entry with this handle.
func unused(folder *os.Root, name string) string {
	for {
		handle := newHandle(name)
		if _, err := folder.Lstat(handle); err != nil {
			return handle
		}
	}
}

// Append writes content to the end of a file. If it returns an error, the file is unchanged. Concurrent appends are
// written one after the other. The error may be [ErrNotFound] or [ErrLimit].
func (s *Space) Append(ctx context.Context, handle, content string) (File, error) {
	if err := s.present(files, handle); err != nil {
		return File{}, err
	}
	var file File
	err := s.change(ctx, files, func(folder *os.Root) error {
		old, info, err := contents(folder, entry(handle))
		if err != nil {
			return missing("file", handle, err)
		}
		have, err := s.usage(folder)
		if err == nil {
			err = s.store.limits.admits(have, 0, info.Size(), int64(len(content)))
		}
		if err == nil {
			file, err = write(folder, handle, old, []byte(content))
		}
		return err
	})
	return file, err
}

// Read returns a file. The error is [ErrNotFound] if the file does not exist.
func (s *Space) Read(ctx context.Context, handle string) (string, File, error) {
	var text []byte
	file, err := s.read(ctx, handle, func(f *os.File, size int64) (err error) {
		text, err = part(f, 0, size)
		return err
	})
	return string(text), file, err
}

// ReadPart returns up to limit bytes of a file, beginning at offset. The next part begins at offset + len(part). At the
// end of the file, this offset equals File.Size. A part does not end within a character, so it may be up to three bytes
// shorter than limit, which must be at least 4. The error is [ErrNotFound] if the file does not exist.
func (s *Space) ReadPart(ctx context.Context, handle string, offset, limit int64) (string, File, error) {
	if offset < 0 || limit < utf8.UTFMax {
		return "", File{},
			fmt.Errorf("workspace: cannot read %d bytes at offset %d: the offset must not be negative and the limit "+
				"must be at least %d", limit, offset, utf8.UTFMax)
	}
	var text []byte
	file, err := s.read(ctx, handle, func(f *os.File, size int64) (err error) {
		if offset > size {
			return fmt.Errorf("workspace: the file has %d bytes; offset %d is after its end", size, offset)
		}
		text, err = part(f, offset, min(limit, size-offset))
		if offset+int64(len(text)) < size {
			text = wholeCharacters(text)
		}
		return err
	})
	return string(text), file, err
}

// read opens a file and calls f with it. It needs no lock, because changes replace a file instead of modifying it.
func (s *Space) read(ctx context.Context, handle string, f func(file *os.File, size int64) error) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, fmt.Errorf("workspace: reading a file: %w", err)
	}
	folder, err := s.openKind(files)
	if err != nil {
		return File{}, missing("file", handle, err)
	}
	defer folder.Close()
	file, info, err := regular(folder, entry(handle))
	if err != nil {
		return File{}, missing("file", handle, err)
	}
	defer file.Close()
	use(folder, handle, info)
	if err := f(file, info.Size()); err != nil {
		return File{}, err
	}
	return fileOf(handle, info), nil
}

func part(file *os.File, offset, size int64) ([]byte, error) {
	text := make([]byte, size)
	if n, err := file.ReadAt(text, offset); n < len(text) {
		return nil, broken("the storage folder", err)
	}
	return text, nil
}

// wholeCharacters removes an incomplete character at the end of text.
func wholeCharacters(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n < len(text); n++ {
		tail := text[len(text)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// RemoveFile removes a file. The error is [ErrNotFound] if the file does not exist.
func (s *Space) RemoveFile(ctx context.Context, handle string) error {
	if err := s.present(files, handle); err != nil {
		return err
	}
	return s.change(ctx, files, func(folder *os.Root) error {
		if err := folder.Remove(entry(handle)); err != nil {
			return missing("file", handle, err)
		}
		return atomicfile.SyncFolder(folder.Open("."))
	})
}

func write(folder *os.Root, handle string, content ...[]byte) (File, error) {
	if err := atomicfile.Write(folder, temporary(), handle, content...); err != nil {
		return File{}, broken("the file was not written", err)
	}
	info, err := folder.Lstat(handle)
	if err != nil {
		return File{}, broken("the storage folder", err)
	}
	return fileOf(handle, info), nil
}

// missing returns the error for an entry that could not be opened. It is [ErrNotFound] if the entry does not exist.
func missing(what, handle string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return notFound(what, handle)
	}
	return broken(fmt.Sprintf("the %s %.100q", what, handle), err)
}

// amount describes an owner's entries of one kind.
type amount struct {
	count  int
	bytes  int64
	oldest string // the handle of the entry that has been unused for the longest time
	used   time.Time
}

func (a *amount) add(handle string, used time.Time, bytes int64) {
	a.count++
	a.bytes += bytes
	if a.oldest == "" || cmp.Or(used.Compare(a.used), strings.Compare(handle, a.oldest)) < 0 {
		a.oldest, a.used = handle, used
	}
}

func (s *Space) usage(folder *os.Root) (amount, error) {
	var sum amount
	err := entries(folder, func(handle string, info os.FileInfo) { sum.add(handle, info.ModTime(), info.Size()) })
	return sum, err
}

// admits returns an error if a change would exceed a limit. The change adds a number of files,
// and more bytes to a file that has size bytes.
func (l *limits) admits(have amount, files int, size, more int64) error {
	switch {
	case size+more > l.fileBytes:
		return fmt.Errorf("%w: the file would have %d bytes and the limit is %d; nothing was written. Put the rest "+
			"into another file and run both in one session", ErrLimit, size+more, l.fileBytes)
	case have.count+files > l.files:
		return fmt.Errorf("%w: you have %d files and the limit is %d; nothing was written. Remove one that is no "+
			"longer needed; %s has been unused the longest", ErrLimit, have.count, l.files, have.oldest)
	case have.bytes+more > l.bytes:
		return fmt.Errorf("%w: your files would have %d bytes in total and the limit is %d; nothing was written. "+
			"Remove some that are no longer needed; %s has been unused the longest", ErrLimit, have.bytes+
			more, l.bytes, have.oldest)
	}
	return nil
}
