package models

import (
	"encoding/json"
	"fmt"
	"strings"
)

// missing returns the error for a request without a stored reply in the mode Replay.
func (s *Store) missing(asked *exchange) error {
	if asked.N > 0 {
		return fmt.Errorf("this request was made %d times, but the store has only %d replies to it; "+
			"store the replies again", asked.N+1, asked.N)
	}
	if len(s.loaded) == 0 {
		return fmt.Errorf("the store is empty; use the mode Resume to store replies")
	}
	now := plainText(asked.Request)
	nearest, before, same := 0, "", -1
	for _, e := range s.loaded {
		text := plainText(e.Request)
		if n := common(text, now); n > same {
			nearest, before, same = e.line, text, n
		}
	}
	return fmt.Errorf("this request is not in the store; the most similar one, in line %d, has %s instead of %s; "+
		"store the replies again", nearest, around(before, same), around(now, same))
}

// plainText returns a request's messages and then its other members, for people.
func plainText(raw json.RawMessage) string {
	var r request
	if json.Unmarshal(raw, &r) != nil {
		return string(raw)
	}
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: ", m.Role)
		for _, p := range m.Parts {
			fmt.Fprint(&b, p.Text, p.Kind, string(p.Value), "\n")
		}
	}
	r.Messages = nil
	settings, _ := json.Marshal(r)
	return b.String() + string(settings)
}

// common returns the length of the common prefix.
func common(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// around quotes the part of a string around an offset.
func around(s string, at int) string {
	const before, after = 20, 40
	from, to := max(at-before, 0), min(at+after, len(s))
	piece := strings.ToValidUTF8(s[from:to], "")
	if from > 0 {
		piece = "…" + piece
	}
	if to < len(s) {
		piece += "…"
	}
	return fmt.Sprintf("%q", piece)
}
