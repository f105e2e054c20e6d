package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"sync"

	"github.com/writ-go/writ/internal/atomicfile"
	"github.com/writ-go/writ/internal/chain"
)

// A log is a file of lines, which end with checksums (package chain). The first line has the format and the run. The
// last byte of the text of each further line is its kind:
//
//   - A record.
//   - The SHA-256 of a record that is too large for the log, and is stored in a file with this name.
//   - A mark. It states that the bytes of the file before an offset were durable when the mark was written. A mark is
//     written after each fsync. Its checksum depends only on the first line, and all marks have the same length, so
//     that a mark can be found even if everything before it is damaged.
//
// After a crash, any byte that was not durable may be missing or zero. Therefore a reader drops the first damaged line
// and everything after it. But if a later mark states that the damaged line was durable, this is an error.
const (
	kindRecord = "r"
	kindLarge  = "l"
	kindMark   = "m"
	offsetSize = 16
	markSize   = offsetSize + len(kindMark) + chain.Overhead
)

const (
	maxInline = 64 << 10 // larger records are stored in files of their own
	maxRecord = 64 << 20
	maxLog    = 1 << 30
)

// file is the file of a log. Closing it ends the ownership of the run.
type file interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	// replace replaces the content, durably. After a crash, the file has either the old or the new content.
	replace(data []byte) error
}

// fileLog implements [Log].
type fileLog struct {
	run   string
	file  file
	root  *os.Root  // contains the folder of the run's large records; nil if they are stored in the log
	head  chain.Sum // of the first line
	lines [][]byte  // the texts of the lines with records that the log had when it was opened

	mu      sync.Mutex
	synced  sync.Cond // signals that syncing became false
	syncing bool
	sum     chain.Sum // of the last line that is not a mark
	size    int64     // of the file
	end     int64     // where the last record ends
	durable int64     // the number of bytes that are durable
	err     error     // why nothing more is written
}

// firstLine returns the first line of a log.
func firstLine(run string) ([]byte, chain.Sum) {
	return chain.Sum{}.Append(nil, []byte("writ journal 1, run "+run))
}

// openLog opens a log with the content data.
func openLog(run string, data []byte, f file, root *os.Root) (*fileLog, error) {
	l := &fileLog{run: run, file: f, root: root}
	l.synced.L = &l.mu
	err := l.read(data)
	if err == nil && l.size < int64(len(data)) {
		err = f.Truncate(l.size)
	}
	if err == nil {
		err = l.Sync() // the process that wrote the last records may have died before it did so
	}
	return l, err
}

// read reads the lines before the first one that was lost in a crash.
func (l *fileLog) read(data []byte) error {
	first, head := firstLine(l.run)
	if !bytes.HasPrefix(data, first) {
		return fmt.Errorf("the log begins with %.120q instead of %q: it is damaged, or of another run, or from "+
			"another version of this package. Nothing was changed", data, first)
	}
	l.head, l.sum, l.size = head, head, int64(len(first))
	for size := 1; size > 0; l.size += int64(size) {
		rest := data[l.size:]
		if l.marked(rest[:min(markSize, len(rest))]) > 0 {
			size = markSize
			continue
		}
		var text []byte
		if text, size, l.sum, _ = l.sum.Cut(rest); size > 0 {
			l.lines = append(l.lines, text)
		}
	}
	l.end = l.size
	if l.marked(data[l.size:]) > l.size {
		return fmt.Errorf("record %d is damaged, although it was durable. Nothing was changed; restore the folder of "+
			"the run from a backup, or remove the run", len(l.lines)+1)
	}
	return nil
}

func (l *fileLog) mark(durable int64) []byte {
	line, _ := l.head.Append(nil, fmt.Appendf(nil, "%0*x"+kindMark, offsetSize, durable))
	return line
}

// marked returns the offset in the last mark in data, or 0.
func (l *fileLog) marked(data []byte) (durable int64) {
	for i, c := range data {
		at := i + 1 - markSize
		if c != '\n' || at < 0 {
			continue
		}
		offset, err := strconv.ParseInt(string(data[at:at+offsetSize]), 16, 64)
		if err == nil && bytes.Equal(data[at:i+1], l.mark(offset)) {
			durable = offset
		}
	}
	return durable
}

// Records implements [Log].
func (l *fileLog) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i, text := range l.lines {
			record, err := l.record(text)
			if err != nil {
				err = fmt.Errorf("journal: record %d of run %q: %w. Restore the folder of the run from a backup, or "+
					"remove the run", i+1, l.run, err)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// record returns the record of a line.
func (l *fileLog) record(text []byte) ([]byte, error) {
	if record, ok := bytes.CutSuffix(text, []byte(kindRecord)); ok {
		return record, nil
	}
	name, ok := bytes.CutSuffix(text, []byte(kindLarge))
	if !ok || l.root == nil {
		return nil, errors.New("the kind of the line is unknown")
	}
	record, err := readFile(l.root, l.run+"/"+string(name), maxRecord)
	if err == nil && fmt.Sprintf("%x", sha256.Sum256(record)) != string(name) {
		err = fmt.Errorf("the content of the file %s has changed", name)
	}
	return record, err
}

// Append implements [Log].
func (l *fileLog) Append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, kind, err := record, kindRecord, l.err
	switch {
	case err != nil:
	case len(record) > maxRecord || bytes.IndexByte(record, '\n') >= 0:
		err = errors.New("the record has a line break or more than 64 MiB")
	case len(record) > maxInline && l.root != nil:
		text, kind = fmt.Appendf(nil, "%x", sha256.Sum256(record)), kindLarge
		err = atomicfile.Write(l.root, l.run+"/large.new", l.run+"/"+string(text), record)
	}
	line, sum := l.sum.Append(nil, append(bytes.Clone(text), kind...))
	l.write(line, err)
	l.sum, l.end = sum, l.size
	return l.err
}

// write writes a line unless err is set. After an error, it is unknown what the file contains, and nothing more is
// written.
func (l *fileLog) write(line []byte, err error) {
	if l.err != nil {
		return
	}
	if err == nil && l.size+int64(len(line)) > maxLog {
		err = fmt.Errorf("its limit is %d bytes", maxLog)
	}
	if err == nil {
		_, err = l.file.WriteAt(line, l.size)
	}
	if l.size += int64(len(line)); err != nil {
		l.err = fmt.Errorf("journal: cannot write to the log of run %q, and nothing more will be written. Remove the "+
			"cause, such as a full disk, and open the run again: %w", l.run, err)
	}
}

// Sync implements [Log]. Goroutines that wait for a Sync in progress share the next one.
func (l *fileLog) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for end := l.end; l.durable < end && l.err == nil; {
		if l.syncing {
			l.synced.Wait()
			continue
		}
		l.syncing = true
		size := l.size
		l.mu.Unlock()
		err := l.file.Sync()
		l.mu.Lock()
		l.syncing = false
		l.synced.Broadcast()
		if l.write(l.mark(size), err); err == nil {
			l.durable = size
		}
	}
	return l.err
}

// Replace implements [Replacer].
func (l *fileLog) Replace(records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.synced.Wait()
	}
	if l.err != nil {
		return l.err
	}
	l.err = errReplaced
	err := l.replace(records)
	if err != nil {
		err = fmt.Errorf("journal: cannot replace the records of run %q: %w", l.run, err)
	}
	return err
}

func (l *fileLog) replace(records [][]byte) error {
	f := &memoryFile{}
	f.data, _ = firstLine(l.run)
	next, err := openLog(l.run, f.data, f, l.root)
	keep := map[string]bool{}
	for i := 0; i < len(records) && err == nil; i++ {
		keep[fmt.Sprintf("%x", sha256.Sum256(records[i]))] = true
		err = next.Append(records[i])
	}
	if err == nil {
		err = errors.Join(next.Sync(), l.file.replace(f.data))
	}
	if err != nil || l.root == nil {
		return err
	}
	files, err := fs.ReadDir(l.root.FS(), l.run)
	for _, file := range files {
		if name := file.Name(); len(name) == 2*sha256.Size && !keep[name] {
			err = errors.Join(err, l.root.Remove(l.run+"/"+name))
		}
	}
	return err
}

// Close implements [Log].
func (l *fileLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.synced.Wait()
	}
	if l.err == errClosed {
		return nil
	}
	l.err = errClosed
	return l.file.Close()
}
