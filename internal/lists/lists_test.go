package lists_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/lists"
)

// TestFinished reads the results of one list. Each call is its arguments, an arrow and the result.
func TestFinished(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		calls    string
		finished bool
	}{
		{`{} → {"rows":[1],"pages":1}`, true},
		{`{} → {"rows":[1],"page":1,"pages":2}`, false},
		{`{} → {"rows":[1],"page":1,"pages":2}; {"page":2} → {"rows":[1],"page":2,"pages":2}`, true},
		{`{"page":2} → {"rows":[1],"total_pages":2}`, false},
		{`{} → {"rows":[1],"total_pages":2}; {"page":2} → {"rows":[1],"totalPages":2}`, true},
		{`{} → {"rows":[1],"pages":2}; {} → {"rows":[1],"pages":2}`, false},
		{`{} → {"rows":[1],"meta":{"page":1,"pages":3}}`, false},
		{`{} → {"rows":[1],"next":"b"}`, false},
		{`{} → {"rows":[1],"next_cursor":"b"}; {"cursor":"b"} → {"rows":[1],"next_cursor":null}`, true},
		{`{} → {"rows":[1],"nextPageToken":"b"}; {"pageToken":"b"} → {"rows":[1]}`, true},
		{`{} → {"rows":[1],"nextPageToken":"b"}; {"pageToken":"b"} → {"rows":[1],"nextPageToken":"c"}`, false},
		{`{} → {"edges":[1],"pageInfo":{"hasNextPage":true,"endCursor":"x"}}`, false},
		{`{} → {"edges":[1],"pageInfo":{"hasNextPage":false,"endCursor":"x"}}`, true},
		{`{} → {"rows":[1],"has_more":true}`, false},
		{`{} → {"rows":[1],"has_more":true,"next":null}`, false},
		{`{} → {"rows":[1],"has_more":true}; {"offset":1} → {"rows":[2],"has_more":false}`, true},
		{`{} → {"rows":[1,2],"total":3}`, false},
		{`{} → {"rows":[1,2],"total":3}; {"offset":2} → {"rows":[3],"total":3}`, true},
		{`{} → {"rows":[1,2],"total":3}; {"offset":0} → {"rows":[1,2],"total":3}`, false},
		{`{"offset":2} → {"rows":[3],"total":3}`, false},
		{`{"page":2} → {"rows":[3],"total":3}`, false},
		{`{"page":2} → {"rows":[3],"total":3}; {"page":1} → {"rows":[1,2],"total":3}`, true},
		{`{"page":2} → {"r":[3,4],"total":5}; {"page":2} → {"r":[3,4],"total":5}; {} → {"r":[1,2],"total":5}`, false},
		{`{} → {"rows":[],"total":0}`, false}, // says nothing
		{`{} → "a\nb\npage 1/2"`, false},
		{`{} → "Page 1 of 2\na\nb"; {"page":2} → "Page 2 of 2\nc"`, true},
		{`{} → "a\nb\nShowing 1-2 of 3"`, false},
		{`{} → "a\nb\n1-2 of 3"; {"offset":2} → "c\n3-3 of 3"`, true},
		{`{} → "a\nnext_token=x1"`, false},
		{`{} → "a\ntoken=x1"; {"token":"x1"} → "b\ntoken=none"`, true},
		{`{} → "{\"rows\":[1],\"has_more\":true}"`, false},
		{`{} → {"rows":[1],"pages":1000000000}`, false},
	} {
		var states []lists.State
		for call := range strings.SplitSeq(test.calls, "; ") {
			args, result, _ := strings.Cut(call, " → ")
			s, _ := lists.Read(json.RawMessage(args), json.RawMessage(result))
			states = append(states, s)
		}
		if got := lists.Finished(states); got != test.finished {
			t.Errorf("%s: finished is %v: %+v", test.calls, got, states)
		}
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		``, `null`, `7`, `[1,2]`, `{}`, `""`, `"text"`, `"page one of two"`, `{"pages":3}`, `{"total":12}`, `{"rows":[1],"count":9}`,
		`{"next":true}`, `{"more":"x"}`, `{"page":{"next":{}}}`, `{"rows":[1],"total":-1}`, `{"rows":[1],"pages":"3"}`, `{`,
		`"token ` + strings.Repeat("x", 300) + ` next=1"`, `{"next":"x","text":"` + strings.Repeat("x", 1<<20) + `"}`,
		strings.Repeat("[", 20000), `{"a":` + strings.Repeat("[", 20000),
	} {
		if s, ok := lists.Read(json.RawMessage(`{}`), json.RawMessage(result)); ok {
			t.Errorf("%.100s says %+v", result, s)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"page":2,"box":"out","pageSize":5,"cursor":"x"}`: `{"box":"out"}`,
		`{"from":"2024-01-01","limit":3}`:                  `{"from":"2024-01-01"}`,
		`{"from":20}`:                                      `{}`,
		`null`:                                             `null`,
	} {
		if got := lists.Key(json.RawMessage(args)); got != want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

// A call whose argument is what an earlier result gave for the next page continues the list of that result.
func TestKeys(t *testing.T) {
	t.Parallel()
	var keys lists.Keys
	for _, call := range []struct{ tool, args, result, want string }{
		{"a", `{"space":"X"}`, `{"rows":[1],"links":{"next":"https://a.example/?at=2\u0026x"}}`, `a{"space":"X"}`},
		{"a", `{"url":"https://a.example/?at=2&x"}`, `{"rows":[2],"next":"https://a.example/?at=4"}`, `a{"space":"X"}`},
		{"a", `{"link":"https://a.example/?at=4"}`, `{"rows":[3]}`, `a{"space":"X"}`},
		{"b", `{"link":"https://a.example/?at=4"}`, `{"rows":[1],"next":"2"}`, `b{"link":"https://a.example/?at=4"}`},
		{"b", `{"id":"2"}`, `{"rows":[1]}`, `b{"id":"2"}`}, // short values are equal by chance
	} {
		s, _ := lists.Read(json.RawMessage(call.args), json.RawMessage(call.result))
		if got := keys.Of(call.tool, json.RawMessage(call.args), s); got != call.want {
			t.Errorf("%s(%s): got %s, want %s", call.tool, call.args, got, call.want)
		}
	}
}

func TestPaged(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		`{"properties":{"page_size":{}}}`: true, `{"properties":{"query":{}}}`: false, `true`: false, ``: false,
	} {
		if lists.Paged(json.RawMessage(schema)) != want {
			t.Errorf("%s is not %v", schema, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"page":2}`, `{"rows":[1],"pages":3}`)
	f.Add(`{}`, `"1-2 of 3"`)
	f.Fuzz(func(t *testing.T, args, result string) {
		s, ok := lists.Read(json.RawMessage(args), json.RawMessage(result))
		if ok != (s.Pagination != 0) && s.Pagination != 0 {
			t.Errorf("%+v", s)
		}
		lists.Finished([]lists.State{s, s})
		lists.Key(json.RawMessage(args))
	})
}
