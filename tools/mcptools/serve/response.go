package serve

import (
	"net/http"
	"time"
)

// response records the status of a response, and bounds the time that the client takes to
// accept each piece. A deadline for the whole response would end streams.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	code    int
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
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
	return w.ResponseWriter.Write(p)
}

// FlushError is for [http.ResponseController].
func (w *response) FlushError() error {
	w.extendWrite()
	return w.control.Flush()
}

// extendWrite extends the deadline for writing. Not every connection has deadlines.
func (w *response) extendWrite() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall))
}

// limitRead sets the deadline for the body. It must be removed when the body has been read, or
// it would end the request.
func (w *response) limitRead() {
	_ = w.control.SetReadDeadline(time.Now().Add(w.stall))
}

func (w *response) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
