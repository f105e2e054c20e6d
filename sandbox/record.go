package sandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
	"github.com/writ-go/writ/tools"
)

// The record of a session is text: a line of JSON that says what made it, and one
// for each program. A line ends with the SHA-256 of itself and of all lines before
// it, so that none can be changed, left out or moved unnoticed.

// recordFormat changes when lines are written otherwise.
const recordFormat = "writ session 1"

// recordHead is the first line.
type recordHead struct {
	Format string         `json:"format"`
	Maker  string         `json:"maker"`
	Pin    *recordPin     `json:"pin,omitempty"`
	Inputs []engine.Input `json:"inputs,omitempty"`
}

// recordPin is a [Determinism] as far as programs can see it.
type recordPin struct {
	Time int64  `json:"time"` // ms since 1970
	Seed uint64 `json:"seed"`
}

// chain is the sum at the end of a line.
type chain [sha256.Size]byte

func (c chain) next(line []byte) chain {
	return sha256.Sum256(append(c[:], line...))
}

// AppendRecord appends to dst the session's record, from program number from on:
// all of it if from is 0, and what Run has added if from is what [Session.Len] was
// before. [Sandbox.RestoreSession] makes a session of the whole. The record holds the
// programs, their inputs, the names of the tools that they used, and what their calls
// answered, readable by whoever can read it. It only ever grows.
func (s *Session) AppendRecord(dst []byte, from int) ([]byte, error) {
	if s == nil || s.box == nil {
		return dst, errNoSession
	}
	if s.err != nil {
		return dst, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if from < 0 || from > len(s.log) {
		return dst, fmt.Errorf("sandbox: the session has %d programs; there is no record from number %d on", len(s.log), from)
	}
	start := from + 1 // the head is line 0
	if from == 0 {
		start = 0
	}
	for i := min(start, len(s.sums)); i <= len(s.log); i++ {
		line, sum, err := s.line(i)
		if err != nil {
			return dst, fmt.Errorf("sandbox: the session's record: %w", err)
		}
		if i == len(s.sums) {
			s.sums = append(s.sums, sum)
		}
		if i >= start {
			dst = fmt.Appendf(append(dst, line...), " %x\n", sum)
		}
	}
	return dst, nil
}

// line is a line of the record, whose predecessors have their sums.
func (s *Session) line(i int) (line []byte, sum chain, err error) {
	if i == 0 {
		line, err = marshal(s.head())
		return line, sum.next(line), err
	}
	line, err = marshal(&s.log[i-1])
	return line, s.sums[i-1].next(line), err
}

func (s *Session) head() *recordHead {
	h := &recordHead{Format: recordFormat, Maker: s.box.maker(), Inputs: s.inputs}
	if s.pin != nil {
		h.Pin = &recordPin{Time: s.pin.Time.UnixMilli(), Seed: s.pin.Seed}
	}
	return h
}

// marshal keeps texts as they are, so that what is compared byte by byte when the
// programs run again is the same.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// RestoreSession makes a session of its record, in this process or another one. Its
// programs are run again when the next one runs, without calling any tool.
//
// The error is [ErrSessionLost] where the record is damaged, or of another version
// of this package, or of a sandbox of the other tier or with other [Rules]: what was
// judged by those is not run here. Limits may differ. If the record ends within a
// line, as it does when its writer died, that line is left out: whole is how much of
// the record counts, and what is appended goes there.
//
// Who can write a record can make a session hold whatever a program could make
// itself, and believe what no tool has said; nothing else.
func (s *Sandbox) RestoreSession(record []byte) (session *Session, whole int, err error) {
	if s == nil || s.tier == nil {
		return nil, 0, errNotMade
	}
	session = &Session{box: s, key: rand.Text(), turn: make(chan struct{}, 1)}
	for n := 0; ; n++ {
		length := bytes.IndexByte(record[whole:], '\n') + 1
		if length == 0 && n == 0 {
			err = errors.New("it has no first line")
		}
		if length > 0 {
			err = session.read(record[whole : whole+length-1])
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: line %d of its record: %w", ErrSessionLost, n+1, err)
		}
		if length == 0 {
			return session, whole, nil
		}
		whole += length
	}
}

// read takes in the next line.
func (s *Session) read(text []byte) error {
	at := len(text) - 2*sha256.Size - 1
	var said, sum chain
	if at < 0 || text[at] != ' ' {
		return errDamaged
	}
	if _, err := hex.Decode(said[:], text[at+1:]); err != nil {
		return errDamaged
	}
	if n := len(s.sums); n > 0 {
		sum = s.sums[n-1]
	}
	line := text[:at]
	if sum.next(line) != said {
		return errDamaged
	}
	if s.sums = append(s.sums, said); len(s.sums) == 1 {
		return s.readHead(line)
	}
	return s.readStep(line)
}

var errDamaged = errors.New("it is damaged")

func (s *Session) readHead(line []byte) error {
	var h recordHead
	if err := strictly(line, &h); err != nil {
		return err
	}
	if h.Format != recordFormat || h.Maker != s.box.maker() {
		return fmt.Errorf("it was made by %.200q, %.200q, and this is %q, %q", h.Format, h.Maker, recordFormat, s.box.maker())
	}
	if h.Pin != nil {
		s.pin = &Determinism{Time: time.UnixMilli(h.Pin.Time), Seed: h.Pin.Seed}
	}
	s.inputs = h.Inputs
	return validInputs(h.Inputs)
}

func (s *Session) readStep(line []byte) error {
	var step engine.Step
	if err := strictly(line, &step); err != nil {
		return err
	}
	if err := errors.Join(validStep(&step), s.validPrelude(step.Prelude)); err != nil {
		return err
	}
	s.log = append(s.log, step)
	s.size += (&sessionStep{made: step}).size()
	return nil
}

func strictly(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows its JSON")
	}
	return nil
}

// validStep reports what the engine could not bear; it takes a step for one of its
// own.
func validStep(s *engine.Step) error {
	switch {
	case s.Clock == nil:
		return errors.New("the program has no clock")
	case min(s.Output, s.Argument) < 0:
		return errors.New("a limit is negative")
	}
	for _, b := range s.Tools {
		if len(b.Names) == 0 || b.Namespace != "" && !tools.Identifier(b.Namespace) {
			return errors.New("a tool has no name")
		}
		if name := b.Names[0]; !tools.Identifier(name) { // the others are the tool's own
			return fmt.Errorf("the name %.50q is not an identifier", name)
		}
	}
	for _, t := range s.Turns {
		if t.Call < 0 || t.Call > len(s.Calls) {
			return fmt.Errorf("there is no call %d", t.Call)
		}
	}
	return validInputs(s.Inputs)
}

// validPrelude reports a library that is not what its hash says, by which workers know
// those that other programs have, too; or one whose text no earlier program has.
func (s *Session) validPrelude(p *engine.Prelude) error {
	same := func(e engine.Step) bool { return e.Prelude != nil && e.Prelude.Hash == p.Hash }
	switch {
	case p == nil:
	case p.Text == "" && !slices.ContainsFunc(s.log, same):
		return errors.New("the program has no library of its hash")
	case p.Text != "" && p.Hash != engine.NewPrelude(p.Text).Hash:
		return errors.New("the program has another library than its hash says")
	}
	return nil
}

func validInputs(list []engine.Input) error {
	for _, in := range list {
		if !tools.Identifier(in.Name) || tools.Reserved(in.Name) {
			return fmt.Errorf("the name %.50q is reserved or no identifier", in.Name)
		}
		if err := engine.Check(in.JSON); err != nil {
			return err
		}
	}
	return nil
}

// maker is what a record must have been made by.
func (s *Sandbox) maker() string {
	tier := "in process"
	if _, ok := s.tier.(*workers.Pool); ok {
		tier = "isolated"
	}
	return modules() + ", " + tier + ", " + s.rules.fingerprint()
}

// modules are the versions of what runs programs, as far as the build knows them.
var modules = sync.OnceValue(func() string {
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

// fingerprint tells rules from others.
func (r *Rules) fingerprint() string {
	if r == nil {
		return "no rules"
	}
	text, err := json.Marshal(r) // a pattern marshals as its text
	if err != nil {
		return "rules of which " + err.Error()
	}
	return fmt.Sprintf("rules %.8x", sha256.Sum256(text))
}
