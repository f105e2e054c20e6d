package serve

import (
	"net/http"
	"time"
)

// response records the status of a response, and bounds the time that the client may take to
// accept each piece. A deadline for the whole response would end streams.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	http2   bool // in HTTP/2, a deadline ends the stream even if nothing is being written
	code    int
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// begin replaces the deadlines that an http.Server of the host may have set for the whole request.
func (w *response) begin(r *http.Request) {
	if w.http2 = r.ProtoMajor == 2; w.http2 {
		w.endPiece()
	} else {
		w.extendWrite()
	}
	var read time.Time // zero is no deadline: a deadline would end a stream
	if r.Body != http.NoBody {
		// limits.read removes this deadline after reading the body; otherwise it would end the request.
		read = time.Now().Add(w.stall)
	}
	_ = w.control.SetReadDeadline(read)
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader records the status.
func (w *response) WriteHeader(code int) {
	if w.code == 0 || w.code < 200 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write extends the deadline for this piece.
func (w *response) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	w.extendWrite()
	defer w.endPiece()
	return w.ResponseWriter.Write(p)
}

// FlushError is for [http.ResponseController].
func (w *response) FlushError() error {
	w.extendWrite()
	defer w.endPiece()
	return w.control.Flush()
}

// extendWrite extends the deadline for writing. It ignores the error, because not every connection supports
// deadlines.
func (w *response) extendWrite() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall))
}

// endPiece removes the deadline for writing if it would end an idle stream.
func (w *response) endPiece() {
	if w.http2 {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// canFlush reports whether responses can be sent in pieces.
func canFlush(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case *response:
			w = t.ResponseWriter
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

func (w *response) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
