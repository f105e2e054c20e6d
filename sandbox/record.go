package sandbox

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/chain"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox/internal/engine"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// The first line of a session's record describes the sandbox, and each further line describes a program, as JSON. The
// lines are sealed by package chain.

// recordFormat is the format's version.
const recordFormat = "writ session 1"

// recordHead is the first line.
type recordHead struct {
	Format string         `json:"format"`
	Maker  string         `json:"maker"`
	Inputs []engine.Input `json:"inputs,omitempty"`
}

// AppendRecord appends the session's record to dst, beginning with program number from. If from is 0, it appends the
// whole record, from which [Sandbox.RestoreSession] creates a session. If from is an earlier result of [Session.Len],
// it appends what has been added since then. The record contains the programs, their inputs, the names of the tools
// that they used and their calls' results in plain text. The record only grows.
func (s *Session) AppendRecord(dst []byte, from int) ([]byte, error) {
	if s == nil || s.box == nil {
		return dst, errNotNewSession
	}
	if s.err != nil {
		return dst, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if from < 0 || from > len(s.log) {
		return dst, fmt.Errorf("sandbox: cannot append the record from program %d: the session has %d programs",
			from, len(s.log))
	}
	start := from + 1 // the head is line 0
	if from == 0 {
		start = 0
	}
	for i := min(start, len(s.sums)); i <= len(s.log); i++ {
		text, err := s.line(i)
		if err != nil {
			return dst, fmt.Errorf("sandbox: append the session's record: %w", err)
		}
		var last chain.Sum
		if i > 0 {
			last = s.sums[i-1]
		}
		all, sum := last.Append(dst, text)
		if i == len(s.sums) {
			s.sums = append(s.sums, sum)
		}
		if i >= start {
			dst = all
		}
	}
	return dst, nil
}

// line returns the text of a line of the record.
func (s *Session) line(i int) ([]byte, error) {
	var content any = &recordHead{Format: recordFormat, Maker: s.box.maker(), Inputs: s.inputs}
	if i > 0 {
		content = &s.log[i-1]
	}
	return jsonvalue.Marshal(content) // strings must not change: they are compared when the programs run again
}

// RestoreSession creates a session from its record, in this process or another one. Before the next program runs, the
// recorded programs are run again, without calling any tool.
//
// It returns [ErrSessionLost] if the record is damaged, or was made by a different version of this package or by a
// sandbox that differs in its [Rules] or in whether it runs programs in process. Limits may differ. If the record ends
// within a line because its writer died, RestoreSession ignores that line. whole is the length of the record without
// that line; cut the record there before you append new lines.
//
// An attacker who can write records can put anything into a session that a program could create, and results that no
// tool returned, but nothing else.
func (s *Sandbox) RestoreSession(record []byte) (session *Session, whole int, err error) {
	if s == nil || s.runner == nil {
		return nil, 0, errNotNew
	}
	session = newSession(s)
	var sum chain.Sum
	for {
		text, size, next, err := sum.Cut(record[whole:])
		switch {
		case err != nil:
		case size == 0 && whole > 0:
			return session, whole, nil
		case size == 0:
			err = errors.New("the first line is missing")
		case whole == 0:
			err = session.readHead(text)
		default:
			err = session.readStep(text)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: line %d of its record: %w", ErrSessionLost, len(session.sums)+1, err)
		}
		sum, whole = next, whole+size
		session.sums = append(session.sums, sum)
	}
}

func (s *Session) readHead(line []byte) error {
	var h recordHead
	if err := jsonvalue.Strictly(line, &h); err != nil {
		return err
	}
	if maker := s.box.maker(); h.Format != recordFormat || h.Maker != maker {
		return fmt.Errorf("the record was made by %.200q, %.200q, but this sandbox needs %q, %q",
			h.Format, h.Maker, recordFormat, maker)
	}
	s.inputs = h.Inputs
	return validInputs(h.Inputs)
}

func (s *Session) readStep(line []byte) error {
	var step engine.Step
	if err := jsonvalue.Strictly(line, &step); err != nil {
		return err
	}
	if err := errors.Join(validStep(&step), s.validLibrary(step.Prelude)); err != nil {
		return err
	}
	s.log = append(s.log, step)
	s.size += stepSize(&step)
	return nil
}

// validStep returns an error if no sandbox could have recorded the step. The engine does not validate steps.
func validStep(s *engine.Step) error {
	switch {
	case s.Clock == nil:
		return errors.New("the program has no clock")
	case min(s.Output, s.Argument) < 0:
		return errors.New("a limit is negative")
	}
	for _, b := range s.Tools {
		if len(b.Names) == 0 || b.Namespace != "" && !jsonvalue.IsIdentifier(b.Namespace) {
			return errors.New("a tool has no name")
		}
		if name := b.Names[0]; !jsonvalue.IsIdentifier(name) { // only the first name must be an identifier
			return fmt.Errorf("the name %.50q is not an identifier", name)
		}
	}
	return errors.Join(engine.CheckTurns(s.Turns, len(s.Replies)), validInputs(s.Inputs))
}

// validLibrary returns an error if a library's source does not match its hash, by which workers identify libraries, or
// if neither this program nor an earlier program has the source.
func (s *Session) validLibrary(p *engine.Prelude) error {
	switch {
	case p == nil:
	case p.Text == "" && !hasLibrary(s.log, p.Hash):
		return errors.New("the library of the program is missing")
	case p.Text != "" && p.Hash != engine.NewPrelude(p.Text).Hash:
		return errors.New("the library of the program does not match its hash")
	}
	return nil
}

func validInputs(list []engine.Input) error {
	for _, in := range list {
		if !jsonvalue.IsIdentifier(in.Name) || globals.Reserved(in.Name) {
			return fmt.Errorf("the name %.50q is reserved or not an identifier", in.Name)
		}
		if err := engine.Check(in.JSON); err != nil {
			return err
		}
	}
	return nil
}

// maker describes the sandbox that writes a record. Only a sandbox with the same
// description can restore the session.
func (s *Sandbox) maker() string {
	mode := "in process"
	if _, ok := s.runner.(*workers.Pool); ok {
		mode = "isolated"
	}
	return moduleVersions() + ", " + mode + ", " + s.rules.fingerprint()
}

// moduleVersions returns the versions of Writ and goja, if the build recorded them.
var moduleVersions = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown modules"
	}
	var list []string
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != "github.com/writ-go/writ" && m.Path != "github.com/dop251/goja" {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, m.Path+" "+m.Version)
	}
	return strings.Join(list, ", ")
})
