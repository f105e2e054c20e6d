package serve

import (
	"net/http"
	"time"
)

// response notes how a request was answered, and gives the client a bounded time to
// take each piece of the answer. A deadline for the whole of it would end streams.
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

// WriteHeader notes the status.
func (w *response) WriteHeader(code int) {
	if w.code == 0 || w.code < 200 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write gives the client its time for this piece.
func (w *response) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	w.hurry()
	return w.ResponseWriter.Write(p)
}

// FlushError is for [http.ResponseController].
func (w *response) FlushError() error {
	w.hurry()
	return w.control.Flush()
}

// hurry gives the client its time anew. Not every connection has deadlines.
func (w *response) hurry() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall))
}

// expect gives the client its time for the body. It has to be lifted when the body
// is there: the end of the time would then end the request.
func (w *response) expect() {
	_ = w.control.SetReadDeadline(time.Now().Add(w.stall))
}

func (w *response) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
