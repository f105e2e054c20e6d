package models

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/writ-go/writ/module/internal/lines"
	"github.com/writ-go/writ/tools/journal"
)

// storeFile is where a store keeps its exchanges.
type storeFile interface {
	Append(v any) error
	Broken() error // the error with which every Append fails, or nil
	Close() error
}

func (s *Store) load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, incomplete, err := lines.Read(file, s.add)
	if err == nil && len(s.loaded) == 0 && incomplete != "" {
		err = errNotStore
	}
	return err
}

// openFile opens a file for a Cache or Resume, and calls add for each of its lines.
func openFile(path string, add func(n int, line []byte) error) (storeFile, error) {
	file, err := lines.Open(path, []string{`{"key":"`, `{"retry":true}`}, errNotStore, add)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// logFile stores exchanges in a journal's log.
type logFile struct {
	log journal.Log

	mu     sync.Mutex
	broken error
}

// openLog calls add for each record of a log.
func openLog(log journal.Log, add func(n int, line []byte) error) (storeFile, error) {
	n := 0
	for record, err := range log.Records() {
		if n++; err == nil {
			err = add(n, record)
		}
		if err != nil {
			return nil, err
		}
	}
	return &logFile{log: log}, nil
}

// Append appends a value, durably. After an error, it writes nothing more and returns the same error.
func (f *logFile) Append(v any) error {
	record, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = f.log.Append(record)
	}
	if f.broken == nil {
		f.broken = f.log.Sync()
	}
	return f.broken
}

// Broken returns the error that Append returned, or nil.
func (f *logFile) Broken() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

// Close does nothing, because the caller closes the log.
func (f *logFile) Close() error { return nil }
