package journal_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools/journal"
)

var entryID = regexp.MustCompile(`E[0-9]+`)

// The rules treat the calls of a restored conversation as if it had gone on in the same process.
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ earlier, call, want string }{
		{"db.add = !failed", "db.add", "held: E made exactly this call and reported an error"},
		{"db.count; db.add; db.add({\"n\":2}) = !timeout", "db.add({\"n\":2})", "stopped: journal: whether "},
		{"db.add({\"n\":2}) = !timeout", "db.add", "made"},
		{"db.add", "db.add", "made"},
		{"db.put = !timeout", "db.put", "made"},
		{"db.put = !timeout; db.add", "db.put", "stopped: journal: whether E db.put({}) took effect is unknown, and"},
		{"db.put = !timeout; db.count; own; db.log", "db.put", "made"},
		{"db.add = !timeout; db.put = !timeout", "db.put", "made"},
	} {
		for restored := range 3 {
			s := newScript(t, nil)
			s.journal.Turn()
			s.program(strings.Split(c.earlier, "; ")...)
			for range restored {
				record, err := s.journal.Record()
				if err == nil {
					s.journal, err = journal.Restore(record, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			s.journal.Turn()
			s.attempt = s.journal.Attempt()
			got := s.finish(s.issue(c.call, nil), "")
			if got = entryID.ReplaceAllString(got, "E"); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, then %s, restored %d times: got %s, want %s", c.earlier, c.call, restored, got, c.want)
			}
		}
	}
}

// A call has its key as requested and its key as performed in a restored conversation, too.
func TestRestoreChangedCall(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	c := s.issue(`db.add({"n":100})`, nil)
	c.args = []byte(`{"n":50}`)
	s.finish(c, "!timeout")
	record, err := s.journal.Record()
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		`db.add({"n":100})`: "stopped", `db.add({"n":50})`: "stopped", `db.add({"n":10})`: "made",
	} {
		if s.journal, err = journal.Restore(record, nil); err != nil {
			t.Fatal(err)
		}
		s.journal.Turn()
		s.attempt = s.journal.Attempt()
		if got := s.finish(s.issue(call, nil), ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
}

// A record with a state that is not known is refused, since its call would not count as uncertain.
func TestRestoreUnknownState(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.program("db.add = !timeout")
	record, err := s.journal.Record()
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(string(record), `"state":"unknown"`, `"state":"lost"`, 1)
	want := `journal: the record is damaged: E1 ended in the state "lost", which Record does not write`
	if _, err := journal.Restore([]byte(damaged), nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
