package worker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// The protocol. A frame is nine bytes, the length of the body (4, big endian),
// the kind (1) and the number of the run (4, big endian), and then the body.
//
//	kind     from    body              when
//	hello    host    hello             first; run 0
//	ready    worker  ready             once hardened; run 0; no guest byte goes before it
//	tools    host    []engine.Binding  before a run whose tools differ from the last ones
//	run      host    engine.Job        starts a run; its tools are those sent last
//	report   worker  engine.Report     at most once in a run, before any call
//	verdict  host    bool              the answer to report
//	call     worker  engine.Call       after verdict true; ids 1, 2, 3, …
//	reply    host    reply             once for each call, in any order, or never
//	stop     host    none              the caller no longer waits: end with engine.Stopped
//	result   worker  engine.Result     ends the run; the worker is then silent
//	last     worker  engine.Result     as result, of a worker that the run has used up
//
// Runs count from 1. The worker drops replies and stops of a run that is over,
// as they may cross its result; for the host any frame that isn't due is a
// breach, and ends the worker.
type Kind byte

const (
	KindHello   Kind = 'H'
	KindReady   Kind = 'Y'
	KindTools   Kind = 'T'
	KindRun     Kind = 'R'
	KindReport  Kind = 'P'
	KindVerdict Kind = 'V'
	KindCall    Kind = 'C'
	KindReply   Kind = 'A'
	KindStop    Kind = 'S'
	KindResult  Kind = 'E'
	KindLast    Kind = 'L'
)

const (
	headerSize = 9
	chunk      = 64 << 10 // how far a buffer grows ahead of what has arrived
	keep       = 1 << 20  // larger buffers are given back after use
	MaxBody    = 1 << 30  // what the host may send; a worker dies of less
)

// ErrBreach says that a worker sent what the protocol does not allow.
var ErrBreach = errors.New("the worker broke the protocol")

// ErrEncode says that nothing was written, as the body can't be sent.
var ErrEncode = errors.New("can't be sent")

// Frame is one message. Its body is valid until the next is read.
type Frame struct {
	Kind Kind
	Run  uint32
	Body []byte
}

// Decode decodes a body that the host wrote.
func (f Frame) Decode(v any) error {
	if err := json.Unmarshal(f.Body, v); err != nil {
		return fmt.Errorf("frame %q: %w", f.Kind, err)
	}
	return nil
}

// DecodeUntrusted decodes a body that a worker wrote. The elements of its arrays may
// need room bytes of memory, not counting program values. Its errors are an [ErrBreach].
func (f Frame) DecodeUntrusted(v any, room int) error {
	if err := decodeUntrusted(f.Body, v, room); err != nil {
		return fmt.Errorf("%w: frame %q: %w", ErrBreach, f.Kind, err)
	}
	return nil
}

// Reader reads frames. It is used by one goroutine at a time.
type Reader struct {
	r     *bufio.Reader
	Limit func(Kind) int // bytes of a body
	buf   []byte
}

func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 16<<10), Limit: func(Kind) int { return limit }}
}

// next reads one frame. io.EOF is returned only between frames.
func (fr *Reader) Next() (Frame, error) {
	head, err := fr.r.Peek(headerSize)
	if err != nil {
		return Frame{}, truncated(err, len(head))
	}
	size := uint64(binary.BigEndian.Uint32(head))
	f := Frame{Kind: Kind(head[4]), Run: binary.BigEndian.Uint32(head[5:])}
	if limit := fr.Limit(f.Kind); size > uint64(limit) {
		return Frame{}, fmt.Errorf("%w: frame %q of %d bytes is over the limit of %d", ErrBreach, f.Kind, size, limit)
	}
	_, _ = fr.r.Discard(headerSize) // they are buffered: it can't fail
	f.Body, err = fr.body(int(size))
	return f, err
}

// body reads size bytes. The buffer grows as they arrive: a length alone, which
// costs its sender nothing, must not cost the receiver memory.
func (fr *Reader) body(size int) ([]byte, error) {
	if cap(fr.buf) > keep {
		fr.buf = nil
	}
	b := fr.buf[:0]
	for len(b) < size {
		have := len(b)
		b = slices.Grow(b, min(size-have, max(have, chunk)))
		b = b[:min(size, cap(b))]
		fr.buf = b
		if n, err := io.ReadFull(fr.r, b[have:]); err != nil {
			return nil, truncated(err, headerSize+have+n)
		}
	}
	return b, nil
}

// silent says that nothing has been received beyond the last frame.
func (fr *Reader) Drained() bool { return fr.r.Buffered() == 0 }

func truncated(err error, received int) error {
	if err == io.EOF && received > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// frameWriter writes each frame with one system call. It is safe for concurrent
// use; whoever locks it keeps frames from being written.
type Writer struct {
	sync.Mutex
	w    io.Writer
	buf  bytes.Buffer
	json *json.Encoder
}

func NewWriter(w io.Writer) *Writer {
	fw := &Writer{w: w}
	fw.json = json.NewEncoder(&fw.buf)
	fw.json.SetEscapeHTML(false)
	return fw
}

// send writes one frame; a nil body is empty.
func (fw *Writer) Send(k Kind, run uint32, body any) error {
	fw.Lock()
	defer fw.Unlock()
	if err := fw.Add(k, run, body); err != nil {
		return err
	}
	return fw.Flush()
}

// add puts a frame behind those that wait to be flushed; a frame whose body
// can't be encoded leaves no trace. The caller holds the lock.
func (fw *Writer) Add(k Kind, run uint32, body any) error {
	start := fw.buf.Len()
	var head [headerSize]byte
	fw.buf.Write(head[:])
	if body != nil {
		if err := fw.json.Encode(body); err != nil {
			fw.buf.Truncate(start)
			return fmt.Errorf("%w: frame %q: %w", ErrEncode, k, err)
		}
	}
	size := fw.buf.Len() - start - headerSize
	if size > MaxBody {
		fw.buf.Truncate(start)
		return fmt.Errorf("%w: frame %q of %d bytes is over the limit of %d", ErrEncode, k, size, MaxBody)
	}
	putHeader(fw.buf.Bytes()[start:], size, k, run)
	return nil
}

func (fw *Writer) Flush() error {
	_, err := fw.w.Write(fw.buf.Bytes())
	if fw.buf.Reset(); fw.buf.Cap() > keep {
		fw.buf = bytes.Buffer{}
	}
	return err
}

func putHeader(b []byte, size int, k Kind, run uint32) {
	binary.BigEndian.PutUint32(b, uint32(size))
	b[4] = byte(k)
	binary.BigEndian.PutUint32(b[5:], run)
}
