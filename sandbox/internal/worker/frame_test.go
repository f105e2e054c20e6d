package worker

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	w := NewWriter(&wire)
	long := strings.Repeat("long ", keep)
	for _, body := range []string{"a", long, "b", ""} {
		if err := w.Send(KindRun, 7, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Send(KindStop, 7, nil); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&wire, MaxBody)
	for _, want := range []string{"a", long, "b", ""} {
		f, err := r.Next()
		if err != nil || f.Kind != KindRun || f.Run != 7 {
			t.Fatalf("%+v, %v", f, err)
		}
		var got string
		if err := f.Decode(&got); err != nil || got != want {
			t.Fatalf("%.10q, %v", got, err)
		}
	}
	if f, err := r.Next(); err != nil || f.Kind != KindStop || len(f.Body) != 0 || !r.Drained() {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
}

func TestUnencodable(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	w := NewWriter(&wire)
	if err := w.Send(KindRun, 1, func() {}); !errors.Is(err, ErrEncode) {
		t.Error(err)
	}
	if wire.Len() != 0 || w.buf.Len() != 0 {
		t.Error("something was written")
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	if err := NewWriter(&wire).Send(KindRun, 1, "body"); err != nil {
		t.Fatal(err)
	}
	whole := wire.Bytes()
	for n := 1; n < len(whole); n++ {
		_, err := NewReader(bytes.NewReader(whole[:n]), MaxBody).Next()
		if err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestClaimedLength checks that the memory for a frame grows with the received bytes, not with the
// claimed length.
func TestClaimedLength(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader("\x3f\xff\xff\xffR\x00\x00\x00\x01few"), MaxBody)
	if _, err := r.Next(); err == nil || cap(r.buf) < chunk || cap(r.buf) > 2*chunk {
		t.Errorf("%d bytes, %v", cap(r.buf), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02R\x00\x00\x00\x01{}"))
	f.Add([]byte("\xff\xff\xff\xffR\x00\x00\x00\x01{}"))
	f.Add([]byte("\x00\x00\x00\x00S\x00\x00\x00\x01\x00\x00\x00\x00S\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		const limit = 1 << 12
		r := NewReader(bytes.NewReader(wire), limit)
		var again bytes.Buffer
		for {
			fr, err := r.Next()
			if err != nil {
				if err == io.EOF && !bytes.Equal(again.Bytes(), wire) {
					t.Error("bytes were lost")
				}
				return
			}
			head := make([]byte, headerSize)
			putHeader(head, len(fr.Body), fr.Kind, fr.Run)
			again.Write(append(head, fr.Body...))
		}
	})
}
