package journal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Options.OnRepeat answers for a held call. If it does not, or its answer does not fit, the call is held.
func TestOnRepeat(t *testing.T) {
	t.Parallel()
	const failed = "!" + tools.KindFailed
	for _, test := range []struct {
		name, before, call string
		answer             *tools.Repeat
		err                error
		like, want         string
	}{
		{"same", `db.add({"n":1}) = 7`, `db.add({"n":2})`, &tools.Repeat{Same: "E1"}, nil, "E1", "recorded 7"},
		{"distinct", `db.add({"n":1})`, `db.add({"n":2})`, &tools.Repeat{Distinct: []string{"all"}}, nil, "E1", "made 2"},
		{"again", `db.add({"n":1}) = ` + failed, `db.add({"n":1})`, &tools.Repeat{Again: []string{"E1"}}, nil, "E1", "made 2"},
		{"failed", `db.add({"n":1}) = ` + failed, `db.add({"n":1})`, &tools.Repeat{Distinct: []string{"all"}}, nil, "E1", "made 2"},
		{"fresh", `shop.buy({"n":1})`, `shop.buy({"n":2})`, &tools.Repeat{Fresh: true}, nil, "E1", "made 2"},
		{"nil", `db.add({"n":1})`, `db.add({"n":2})`, nil, nil, "E1", "held: earlier programs"},
		{"does not fit", `db.add({"n":1}) = ` + failed, `db.add({"n":2})`, &tools.Repeat{Same: "E1"}, nil, "E1", "held: E1 has no result"},
		{"error", `db.add({"n":1})`, `db.add({"n":2})`, nil, errors.New("nobody repeats"), "E1", "stopped: nobody repeats"},
		{"not held", `db.put({"n":1})`, `db.put({"n":2})`, nil, errors.New("asked"), "", "made 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			like := ""
			s := newScript(t, &journal.Options{
				OnRepeat: func(id string, _ tools.Call, list []journal.Entry) (*tools.Repeat, error) {
					if like = ids(list); id != "H2.1" {
						t.Errorf("the question is %s", id)
					}
					return test.answer, test.err
				}})
			s.program(test.before)
			s.attempt = s.journal.Attempt()
			got := s.finish(s.issue(test.call, nil), "")
			if !strings.HasPrefix(got, test.want) || like != test.like {
				t.Errorf("got %s, asked about %q", got, like)
			}
		})
	}
}

// A question names all calls that stand in the way of the call.
func TestOnRepeatAsksOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	s := newScript(t, &journal.Options{
		OnRepeat: func(_ string, _ tools.Call, list []journal.Entry) (*tools.Repeat, error) {
			if asked++; ids(list) != "E1, E2, E3" {
				t.Errorf("asked about %s", ids(list))
			}
			return &tools.Repeat{Distinct: []string{"all"}}, nil
		}})
	s.program(`db.add({"n":1}) = !`+tools.KindFailed, `db.add({"n":2}) = !`+tools.KindFailed, `db.add({"n":3})`)
	s.attempt = s.journal.Attempt()
	if got := s.finish(s.issue(`db.add({"n":1})`, nil), ""); got != "made 4" || asked != 1 {
		t.Errorf("got %s, asked %d times", got, asked)
	}
}

// While a question is open, the calls that follow are not made, and nothing that the module does is recorded. When the
// run is repeated, the call in question comes next.
func TestQuestion(t *testing.T) {
	t.Parallel()
	store := journal.NewMemory()
	for _, answer := range []*tools.Repeat{nil, nil, {Same: "E1"}} {
		log, err := store.Open(t.Context(), "r-1")
		if err != nil {
			t.Fatal(err)
		}
		s := newScript(t, nil)
		s.journal, err = journal.Open(log, &journal.Options{
			OnRepeat: func(string, tools.Call, []journal.Entry) (*tools.Repeat, error) {
				if answer == nil {
					return nil, place.ErrPaused
				}
				return answer, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		s.program(`db.add({"n":1}) = 7`)
		s.attempt = s.journal.Attempt()
		got := s.finish(s.issue(`db.add({"n":2})`, nil), "")
		next := s.finish(s.issue(`db.log({"n":3})`, nil), "")
		s.journal.Accept()
		synced := s.journal.Sync(t.Context())
		switch {
		case answer != nil:
			if got != "recorded 7" || !strings.HasPrefix(next, "made") || synced != nil {
				t.Errorf("got %s, %s, %v", got, next, synced)
			}
		case !strings.HasPrefix(got, "not dispatched") || got != next || !errors.Is(synced, place.ErrPaused):
			t.Errorf("got %s, %s, %v", got, next, synced)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
