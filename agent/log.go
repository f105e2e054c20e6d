package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/writ-go/writ/tools/journal"
)

// runLog divides the log of a run into parts: what happened to the run, the replies of models, and the journals. It
// counts the records and chains their hashes, so that a [Checkpoint] can name a state of the log.
type runLog struct {
	log journal.Log

	mu       sync.Mutex
	parts    map[string][][]byte // the records that the log had when it was opened
	journals []string            // the keys of the journals, in the order of their first records
	since    int                 // the number of decisions since the run last began or went on
	ended    bool                // nothing more is recorded
	count    int
	sum      [sha256.Size]byte
}

func divide(log journal.Log) (*runLog, error) {
	l := &runLog{log: log, parts: map[string][][]byte{}}
	for record, err := range log.Records() {
		if err != nil {
			return nil, err
		}
		name, content, ok := bytes.Cut(record, []byte("\t"))
		if !ok {
			return nil, fmt.Errorf("record %d has no part; is this the log of a run?", l.count+1)
		}
		if key, ok := strings.CutPrefix(string(name), callsOf); ok && l.parts[string(name)] == nil {
			l.journals = append(l.journals, key)
		}
		l.parts[string(name)] = append(l.parts[string(name)], content)
		switch string(name) {
		case "run":
			var m struct{ State RunState }
			if json.Unmarshal(content, &m) == nil && m.State == Interrupted { // newRun returns the error
				l.since = 0
			}
		case "decision":
			l.since++
		}
		l.add(record)
	}
	return l, nil
}

func (l *runLog) add(record []byte) {
	l.count++
	l.sum = sha256.Sum256(append(l.sum[:], record...))
}

var errEnded = errors.New("the run has ended in this process; resume it")

// end ends the recording, so that a tool that returns later does not change a checkpoint, or the log of another owner.
func (l *runLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// head returns the number of records, and the hash of all of them.
func (l *runLog) head() (count int, sum string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count, hex.EncodeToString(l.sum[:])
}

func (l *runLog) part(name string) *logPart { return &logPart{l, name} }

// logPart is a part of a log. It implements [journal.Log].
type logPart struct {
	log  *runLog
	name string
}

// Records implements [journal.Log].
func (p *logPart) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, record := range p.log.parts[p.name] {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// Append implements [journal.Log].
func (p *logPart) Append(content []byte) error {
	record := append([]byte(p.name+"\t"), content...)
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	if p.log.ended {
		return errEnded
	}
	if err := p.log.log.Append(record); err != nil {
		return err
	}
	p.log.add(record)
	return nil
}

// reread is a part whose new records can be read.
type reread struct{ *logPart }

// Append implements [journal.Log].
func (p reread) Append(content []byte) error {
	p.log.parts[p.name] = append(p.log.parts[p.name], bytes.Clone(content))
	return p.logPart.Append(content)
}

// Sync implements [journal.Log].
func (p *logPart) Sync() error { return p.log.log.Sync() }

// Close does nothing, because the run closes the log.
func (p *logPart) Close() error { return nil }
