// Package lines reads and appends to a file of JSON lines, which stays readable if the process is killed. Only one
// process at a time can have the file open.
package lines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// File is an open file. It is safe for concurrent use.
type File struct {
	mu     sync.Mutex
	file   *os.File
	broken error // why a line could not be written; nothing is written after it
}

// Open opens or creates a file, locks it, and calls each for every complete line, with its number. If the last line is
// not JSON, a process was killed while it wrote the line, and Open removes it. To avoid damaging other files, Open
// returns the error foreign if an incomplete first line does not agree with any of the beginnings.
func Open(path string, beginnings []string, foreign error, each func(n int, line []byte) error) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err = filelock.Own(file); err == nil {
		err = prepare(file, beginnings, foreign, each)
	}
	if err != nil {
		return nil, errors.Join(err, filelock.Close(file))
	}
	return &File{file: file}, nil
}

// prepare reads the file, and removes an incomplete last line or adds the line break that a complete last line lacks.
func prepare(file *os.File, beginnings []string, foreign error, each func(n int, line []byte) error) error {
	empty := true
	end, incomplete, err := Read(file, func(n int, line []byte) error {
		empty = false
		return each(n, line)
	})
	if err != nil {
		return err
	}
	if empty && !canBegin(incomplete, beginnings) {
		return fmt.Errorf("line 1: %w", foreign)
	}
	if err := file.Truncate(end); err != nil || end == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.WriteString("\n")
	return err
}

// Read calls each with the number and the text of every complete line that is not empty. It returns the offset at which
// the last complete line ends, and the incomplete line that follows.
func Read(r io.Reader, each func(n int, line []byte) error) (end int64, incomplete string, err error) {
	reader := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := reader.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case last && !json.Valid(line):
			return end, string(line), nil
		case err != nil && !last:
			return 0, "", err
		}
		if len(strings.TrimSpace(string(line))) > 0 {
			if err := each(n, line); err != nil {
				return 0, "", fmt.Errorf("line %d: %w", n, err)
			}
		}
		if end += int64(len(line)); last {
			return end, "", nil
		}
	}
}

func canBegin(line string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(line, b) || strings.HasPrefix(b, line) {
			return true
		}
	}
	return false
}

// Append writes a value as a line. After an error, it writes nothing more and returns the same error.
func (f *File) Append(v any) error {
	line, err := jsonvalue.Marshal(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		_, f.broken = f.file.Write(append(line, '\n'))
	}
	return f.broken
}

// Broken returns the error that Append returned, or nil.
func (f *File) Broken() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

// Close unlocks and closes the file.
func (f *File) Close() error { return filelock.Close(f.file) }
