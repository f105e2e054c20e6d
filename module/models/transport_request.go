package models

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/writ-go/writ/module/internal/lm"
)

// amended returns the request with what was asked for and the provider left out,
// if it is one for a chat.
func amended(r *http.Request, s lm.Sampling) (*http.Request, error) {
	if r.Body == nil || r.Method != http.MethodPost {
		return r, nil
	}
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	_, err := body.ReadFrom(r.Body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	changed := amend(body.Bytes(), s)
	r = r.Clone(r.Context())
	r.ContentLength = int64(len(changed))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(changed)), nil }
	r.Body, _ = r.GetBody()
	return r, nil
}

// amend changes the body of a request: the temperature is left out unless it was
// asked for, top_p is put in, and images and files get their right form.
func amend(body []byte, s lm.Sampling) []byte {
	if !amendable(body, s) {
		return body
	}
	members, ok := items(body, '{')
	if !ok {
		return body
	}
	kept := make([][]byte, 0, len(members)+1)
	var chat, top bool
	for _, m := range members {
		name, value := member(m)
		switch name {
		case "temperature":
			if s.Temperature == nil {
				continue
			}
		case "top_p":
			top = true
		case "messages":
			chat = true
			m = named(name, withMedia(value))
		}
		kept = append(kept, m)
	}
	if !chat {
		return body
	}
	if s.TopP != nil && !top {
		p, err := json.Marshal(*s.TopP)
		if err != nil { // the provider says it of its own numbers
			return body
		}
		kept = append(kept, named("top_p", p))
	}
	return joined('{', kept)
}

// amendable says, by a look at the text, whether there may be something to
// change: within a JSON string, what is looked for would have backslashes.
func amendable(body []byte, s lm.Sampling) bool {
	return s.TopP != nil || s.Temperature == nil && bytes.Contains(body, []byte(`"temperature"`)) || hasMedia(body)
}
