package models

import (
	"io"
	"mime"
	"net/http"

	"github.com/writ-go/writ/module/internal/lm"
)

// Transport is a transport for the HTTP client of a provider, such as those of
// openai.WithHTTPClient and anthropic.WithHTTPClient. It mends what langchaingo's
// providers lose, for calls made by modules and by the models of this package:
//
//   - An [Error] has the status, the wait that the headers ask for, and the
//     provider's message. A connection that breaks in the middle of an answer is
//     an error, not a short reply, and so is an error in the middle of a stream
//     or in an answer whose status is 200. So is a refusal that stands where no
//     provider looks.
//   - The temperature is sent only if one was asked for (providers send 0
//     otherwise), and top_p if it was (openai's drops it).
//   - Images and files go out as the APIs of OpenAI and Anthropic document it:
//     openai's provider sends parts of a type that does not exist, anthropic's
//     sends every file as an image. What is text goes out as text.
//   - A streamed piece may be longer than 64 KB, where providers give up.
//
// Other requests pass through untouched. It is safe for concurrent use if Base
// is.
type Transport struct {
	// Base makes the requests. Nil is http.DefaultTransport.
	Base http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.base()
	x := lm.ExchangeOf(r.Context())
	if x == nil {
		return base.RoundTrip(r)
	}
	r, err := amended(r, x.Sampling)
	if err != nil {
		return nil, err
	}
	x.Note(nil)
	answer, err := base.RoundTrip(r)
	if err != nil {
		x.Note(lm.FromConnection(err))
		return nil, err
	}
	watch(answer, r, x)
	return answer, nil
}

// CloseIdleConnections closes those of Base; the method of that name of
// [http.Client] calls it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// watch notes how an answer fails, while the provider reads it.
func watch(answer *http.Response, r *http.Request, x *lm.Exchange) {
	if answer.StatusCode/100 == 2 {
		x.NoteAnswer()
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode >= http.StatusBadRequest:
		message, code := peek(answer, keysOf(r.Header))
		x.Note(lm.FromAnswer(answer.StatusCode, waitOf(answer.Header), message, code))
	case kind == "text/event-stream":
		answer.Body = newEvents(answer.Body, x)
	default:
		answer.Body = &watched{ReadCloser: answer.Body, exchange: x}
	}
}

// watched notes that a body broke off, or that it is an error in spite of its
// status, as some gateways have it.
type watched struct {
	io.ReadCloser
	exchange *lm.Exchange
	head     []byte // as long as it may be an error
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		w.exchange.Note(lm.FromConnection(err))
	}
	if len(w.head) <= maxErrorBody {
		w.head = append(w.head, p[:n]...)
	}
	return n, err
}

// Close implements [io.Closer].
func (w *watched) Close() error {
	if failure := failureIn(w.head); failure != nil {
		w.exchange.Note(failure)
	} else if why := refusalIn(w.head); why != "" {
		w.exchange.Note(refused(why))
	}
	w.head = nil
	return w.ReadCloser.Close()
}
