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

// Kind is a frame's kind.
//
// A frame is nine bytes followed by the body: the body's length (4, big endian), the kind (1) and the run's number (4,
// big endian).
//
//	kind     from    body              when
//	hello    host    Hello             first; run 0
//	ready    worker  Ready             once hardened, before it has read a program; run 0
//	tools    host    []engine.Binding  before a run whose tools differ from the last ones
//	run      host    engine.Job        starts a run, which uses the tools sent last
//	report   worker  engine.Report     at most once in a run, before any call
//	verdict  host    bool              after report, unless the report is clean and the job has RunClean
//	call     worker  engine.Call       after verdict true; IDs 1, 2, 3, …
//	reply    host    Reply             at most once for each call, in any order
//	waiting  worker  int               the program only waits; the body counts the replies received
//	clock    host    bool              whether the clocks stand still while the program waits
//	stop     host    none              the caller has canceled: end with engine.KindStopped
//	result   worker  engine.Result     ends the run; the worker then sends nothing
//	last     worker  engine.Result     like result; the worker cannot be used again
//
// Runs are numbered from 1. The worker ignores replies and stops for a run that has ended, because the host may
// have sent them before it received the result. The host treats any unexpected frame as a breach of the
// protocol, and kills the worker.
type Kind byte

// The kinds of frames.
const (
	KindHello   Kind = 'H'
	KindReady   Kind = 'Y'
	KindTools   Kind = 'T'
	KindRun     Kind = 'R'
	KindReport  Kind = 'P'
	KindVerdict Kind = 'V'
	KindCall    Kind = 'C'
	KindReply   Kind = 'A'
	KindWaiting Kind = 'W'
	KindClock   Kind = 'K'
	KindStop    Kind = 'S'
	KindResult  Kind = 'E'
	KindLast    Kind = 'L'
)

// MaxBody limits the size of any frame's body.
const MaxBody = 1 << 30

const (
	headerSize = 9
	chunk      = 64 << 10 // the growth of a small buffer, at most to the size of the frame
	keep       = 1 << 20  // buffers larger than this are released after use
)

// ErrBreach is the error for a worker that violated the protocol.
var ErrBreach = errors.New("the worker broke the protocol")

// ErrEncode is the error for a body that cannot be encoded. Nothing was written.
var ErrEncode = errors.New("cannot be sent")

// Frame is one message. Its body is valid until the next frame is read.
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

// DecodeUntrusted decodes a body that a worker wrote. The elements of its arrays may need at
// most room bytes of memory, not counting program values. Its errors wrap [ErrBreach].
func (f Frame) DecodeUntrusted(v any, room int) error {
	if err := decodeUntrusted(f.Body, v, room); err != nil {
		return fmt.Errorf("%w: frame %q: %w", ErrBreach, f.Kind, err)
	}
	return nil
}

// Reader reads frames. It must not be used concurrently.
type Reader struct {
	Limit func(Kind) int // returns the maximum size of a frame's body

	r   *bufio.Reader
	buf []byte
}

// NewReader returns a reader of frames whose bodies have at most limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 16<<10), Limit: func(Kind) int { return limit }}
}

// Next reads one frame. It returns [io.EOF] only if the connection ends between two frames.
func (r *Reader) Next() (Frame, error) {
	head, err := r.r.Peek(headerSize)
	if err != nil {
		return Frame{}, truncated(err, len(head))
	}
	size := uint64(binary.BigEndian.Uint32(head))
	f := Frame{Kind: Kind(head[4]), Run: binary.BigEndian.Uint32(head[5:])}
	if limit := r.Limit(f.Kind); size > uint64(limit) {
		return Frame{}, fmt.Errorf("%w: frame %q of %d bytes exceeds the limit of %d", ErrBreach, f.Kind, size, limit)
	}
	_, _ = r.r.Discard(headerSize) // cannot fail after Peek
	f.Body, err = r.body(int(size))
	return f, err
}

// body reads size bytes. The buffer grows as they arrive, so that a large length alone
// does not cost memory.
func (r *Reader) body(size int) ([]byte, error) {
	if cap(r.buf) > keep {
		r.buf = nil
	}
	b := r.buf[:0]
	for len(b) < size {
		have := len(b)
		b = slices.Grow(b, min(size-have, max(have, chunk)))
		b = b[:min(size, cap(b))]
		r.buf = b
		if n, err := io.ReadFull(r.r, b[have:]); err != nil {
			return nil, truncated(err, headerSize+have+n)
		}
	}
	return b, nil
}

// Drained reports whether nothing has been received after the last frame.
func (r *Reader) Drained() bool { return r.r.Buffered() == 0 }

func truncated(err error, received int) error {
	if err == io.EOF && received > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Writer collects frames and writes them with one system call. It is safe for concurrent use. While it is
// locked, only the holder of the lock may call Add and Flush, and Send blocks.
type Writer struct {
	sync.Mutex
	w    io.Writer
	buf  bytes.Buffer
	json *json.Encoder
}

// NewWriter returns a writer of frames.
func NewWriter(w io.Writer) *Writer {
	fw := &Writer{w: w}
	fw.json = json.NewEncoder(&fw.buf)
	fw.json.SetEscapeHTML(false)
	return fw
}

// Send writes one frame. If body is nil, the body is empty.
func (w *Writer) Send(k Kind, run uint32, body any) error {
	w.Lock()
	defer w.Unlock()
	if err := w.Add(k, run, body); err != nil {
		return err
	}
	return w.Flush()
}

// Add adds a frame to the frames that Flush writes. If it returns an error, which wraps
// [ErrEncode], it has added nothing. The caller holds the lock.
func (w *Writer) Add(k Kind, run uint32, body any) error {
	start := w.buf.Len()
	w.buf.Write(make([]byte, headerSize))
	var err error
	if body != nil {
		err = w.json.Encode(body)
	}
	size := w.buf.Len() - start - headerSize
	if err == nil && size > MaxBody {
		err = fmt.Errorf("%d bytes exceed the limit of %d", size, MaxBody)
	}
	if err != nil {
		w.buf.Truncate(start)
		return fmt.Errorf("%w: frame %q: %w", ErrEncode, k, err)
	}
	putHeader(w.buf.Bytes()[start:], size, k, run)
	return nil
}

// Flush writes the frames that were added. The caller holds the lock.
func (w *Writer) Flush() error {
	_, err := w.w.Write(w.buf.Bytes())
	if w.buf.Reset(); w.buf.Cap() > keep {
		w.buf = bytes.Buffer{}
	}
	return err
}

func putHeader(b []byte, size int, k Kind, run uint32) {
	binary.BigEndian.PutUint32(b, uint32(size))
	b[4] = byte(k)
	binary.BigEndian.PutUint32(b[5:], run)
}
