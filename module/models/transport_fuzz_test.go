package models

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/writ-go/writ/module/internal/lm"
)

// FuzzAmend changes bodies of requests: a chat as decoding it would, and nothing
// in what is none.
func FuzzAmend(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{"role":"user","content":"Say \"temperature\":0, {\\"}],"temperature":0}`,
		`{"temperature":1e0,"messages":[{"content":[{"type":"text","text":"a\\\""},{"type":"binary","binary":{"mime_type":"text/plain","data":"YQ=="}},{"type":"image","source":{"type":"base64","media_type":"application/pdf","data":"YQ=="}}]}]}`,
		`{"messages":[],"tools":[{"parameters":{"properties":{"temperature":{"type":"binary"}}}}],"top_p":0.3}`,
		` { "messages" : [ ] , "temperature" : 0 } `, `{"input":"x","temperature":0}`, `{"messages":[}`, `{"messages":[],"temperature"`, `{"messages":[{"content":[{"type":"binary"]}]}`, `["messages"]`, ``, `{,"temperature"`,
	} {
		f.Add([]byte(s), true, 0.5)
		f.Add([]byte(s), false, 0.0)
	}
	f.Fuzz(func(t *testing.T, body []byte, hot bool, top float64) {
		if math.IsNaN(top) || math.IsInf(top, 0) || bytes.Contains(body, []byte(`\u`)) {
			return // no JSON has such numbers, no encoder escapes letters
		}
		var s lm.Sampling
		if hot {
			s.Temperature = &top
		}
		if top != 0 {
			s.TopP = &top
		}
		got := amend(bytes.Clone(body), s)
		was, ok := decoded(body)
		if !ok {
			if json.Valid(body) && !bytes.Equal(got, body) {
				t.Fatalf("%q became %q", body, got)
			}
			return
		}
		is, ok := decoded(got)
		if !ok {
			t.Fatalf("%q became %q", body, got)
		}
		if want := amendedBy(was, s); !hasMedia(body) && !reflect.DeepEqual(is, want) {
			t.Fatalf("%q became %q, want %v", body, got, want)
		}
	})
}

// decoded is an object, its numbers as they are written.
func decoded(body []byte) (m map[string]any, ok bool) {
	if !json.Valid(body) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	err := decoder.Decode(&m)
	return m, err == nil && m != nil
}

// amendedBy is what becomes of a request without attachments.
func amendedBy(request map[string]any, s lm.Sampling) map[string]any {
	if _, chat := request["messages"]; !chat {
		return request
	}
	if s.Temperature == nil {
		delete(request, "temperature")
	}
	if _, top := request["top_p"]; !top && s.TopP != nil {
		p, _ := json.Marshal(*s.TopP)
		request["top_p"] = json.Number(p)
	}
	return request
}

// A body that is not a chat's, or broken, stays as it is, to the byte.
func TestAmendLeavesAlone(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `{"input": "x", "temperature": 0}`, `{"messages":[}`, `{"messages":["],"temperature":0}`,
		`{"messages":[],"temperature":0`, `--boundary`, `{"messages":}},"temperature":0}`, `{"messages" "temperature":0}`,
	} {
		if got := amend([]byte(body), lm.Sampling{TopP: &half}); string(got) != body {
			t.Errorf("%s became %s", body, got)
		}
	}
}

// What was asked for needs no change: the body is not even read through.
func TestAmendNothing(t *testing.T) {
	t.Parallel()
	zero := 0.0
	body := []byte(`{"messages":[{"content":"\"type\":\"binary\""}],"temperature":0}`)
	if got := amend(body, lm.Sampling{Temperature: &zero}); &got[0] != &body[0] {
		t.Errorf("it was copied: %s", got)
	}
}
