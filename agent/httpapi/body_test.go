package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBody(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	const isJSON = "application/json; charset=utf-8"
	for name, test := range map[string]struct {
		media, body string
		status      int
		want        string
	}{
		"valid":           {isJSON, `{"input": {"task": "rest"}}`, 202, `"state":"queued"`},
		"form":            {"application/x-www-form-urlencoded", "input=1", 415, "media_type"},
		"no media type":   {"", `{"input": 1}`, 415, "media_type"},
		"too many bytes":  {isJSON, `{"input": "` + strings.Repeat("x", 1<<20) + `"}`, 413, "at most 1048576 bytes"},
		"too many values": {isJSON, `{"input": [` + strings.Repeat("1,", 100_000) + `1]}`, 413, "100000 JSON values"},
		"too deep":        {isJSON, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), 413, "100 deep"},
		"no JSON":         {isJSON, `{"input": 1`, 400, "not_json"},
		"empty":           {isJSON, ``, 400, "not_json"},
		"two values":      {isJSON, `{"input": 1} {"input": 2}`, 400, "not_json"},
		"an array":        {isJSON, `[]`, 422, "must be an object"},
		"no input":        {isJSON, `{}`, 422, `input is required`},
		"an extra member": {isJSON, `{"input": 1, "inputs": 2}`, 422, `inputs`},
		"another case":    {isJSON, `{"input": 1, "Input": 2}`, 422, `Input`},
		"twice":           {isJSON, `{"input": 1, "input": 2}`, 422, `input is given twice`},
		"twice within":    {isJSON, `{"input": {"a": 1, "a": 2}}`, 422, `input.a is given twice`},
	} {
		r := httptest.NewRequest(http.MethodPost, "/runs", strings.NewReader(test.body))
		r.Header.Set("User", "ann")
		r.Header.Set("Content-Type", test.media)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: got %d %s, want %d with %s", name, w.Code, w.Body, test.status, test.want)
		}
	}
	if list, err := h.runner.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d runs were started, %v", len(list), err)
	}
	r := httptest.NewRequest(http.MethodPost, "/runs", iotest.ErrReader(io.ErrUnexpectedEOF))
	r.Header = http.Header{"User": {"ann"}, "Content-Type": {isJSON}}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "incomplete") {
		t.Errorf("an incomplete body: %d %s", w.Code, w.Body)
	}
}

// An answer has one kind of decision, which is not null.
func TestAnswers(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	run := h.begin(t, "send bob")
	for _, body := range []string{`{}`, `{"approved": null}`, `{"outcome": null}`, `{"repeat": null}`,
		`{"approved": true, "repeat": {}}`, `{"approved": true, "outcome": null}`,
		`{"approved": true, "Approved": false}`,
		`{"approved": "yes"}`, `{"approved": true, "round": 1e30}`, `{"approved": true, "round": 0.5}`,
		`{"outcome": {"state": "ok", "State": "rejected"}}`, `{"approved": true, "grant": {"tool": "send"}}`,
	} {
		w := h.do("ann", http.MethodPut, "/runs/"+run.ID+"/tickets/"+run.Waiting[0].ID, body)
		if w.Code != 422 || !strings.Contains(w.Body.String(), `"code":"invalid"`) {
			t.Errorf("%s: got %d %s", body, w.Code, w.Body)
		}
	}
}

// An answer that is accepted means the same to every JSON decoder.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"approved": true, "reason": "ok", "args": {"to": "eve"}}`,
		`{"outcome": {"state": "ok", "result": [1, 1e400]}}`,
		`{"repeat": {"same": "E7", "distinct": ["all"]}}`,
		`{"approved": true, "Approved": false}`, `{"approved": null}`, `null`, `[`, `{"\u0061pproved": true}`,
	} {
		f.Add([]byte(seed))
	}
	h := newHandler(f, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		var got answerBody
		r := httptest.NewRequest(http.MethodPut, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if err := h.decode(httptest.NewRecorder(), &request{Request: r}, h.answer, &got); err != nil {
			if p, ok := errors.AsType[*problem](err); !ok || p.status != 400 && p.status != 422 {
				t.Errorf("the error has no response: %v", err)
			}
			return
		}
		var members map[string]any
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&members); err != nil {
			t.Fatalf("encoding/json rejects the answer: %v", err)
		}
		if got.Approved != nil && fmt.Sprint(*got.Approved) != fmt.Sprint(members["approved"]) {
			t.Errorf("approved is %t, not %v", *got.Approved, members["approved"])
		}
		if reason, _ := members["reason"].(string); reason != got.Reason {
			t.Errorf("reason is %q, not %q", got.Reason, reason)
		}
	})
}
