package sqltest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// eventually opens a run, as soon as its lease has ended.
func eventually(t *testing.T, store journal.Store, run string) journal.Log {
	t.Helper()
	for {
		l, err := store.Open(t.Context(), run)
		if err == nil {
			t.Cleanup(func() { l.Close() })
			return l
		}
		if !errors.Is(err, journal.ErrInUse) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// want checks the records of a log.
func want(t *testing.T, l journal.Log, records ...string) {
	t.Helper()
	if got, err := storetest.Records(l); err != nil || !slices.Equal(got, records) {
		t.Errorf("the records are %q, %v; want %q", got, err, records)
	}
}

// A lost log writes nothing more, and all its methods say why.
func lost(t *testing.T, l journal.Log) {
	t.Helper()
	errs := []error{l.Append([]byte("x")), l.Sync(), l.(journal.Replacer).Replace(nil)}
	for _, err := range errs {
		if !errors.Is(err, sqljournal.ErrLeaseLost) || !strings.Contains(fmt.Sprint(err), `run "run"`) {
			t.Errorf("a log without a lease returns %v", err)
		}
	}
}

// A run whose owner is alive stays in use, although the lease is short.
func TestLeaseIsRenewed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		l := storetest.OpenRun(t, d.store(t, 3*time.Second), "run")
		other := d.store(t, 0)
		const lease = "SELECT lease_until FROM writ_runs"
		last := d.query(t, lease)
		for renewals := 0; renewals < 2; time.Sleep(50 * time.Millisecond) {
			if now := d.query(t, lease); !slices.Equal(now, last) {
				last = now
				renewals++
			}
			if _, err := other.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
				t.Fatal(err)
			}
			if err := other.Remove(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
				t.Fatal(err)
			}
		}
		storetest.Append(t, l, "a")
		storetest.Reopen(t, other, l, "a")
	})
}

// The run of an owner that has lost the database can be opened when its lease has ended, and by then the owner knows.
func TestLeaseEnds(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		storetest.Append(t, l, "a")
		if err := l.Append([]byte("lost")); err != nil {
			t.Fatal(err)
		}
		down := func(context.Context, string, []driver.NamedValue) error { return errors.New("the server is down") }
		f.set(down, nil)
		other := d.store(t, 0)
		if _, err := other.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("the run is open before the lease has ended: %v", err)
		}
		next := eventually(t, other, "run")
		lost(t, l)
		want(t, next, "a")
		storetest.Append(t, next, "b")
		f.set(nil, nil)
		lost(t, l)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := d.query(t, "SELECT epoch, records FROM writ_runs"); !slices.Equal(got, []string{"2 2"}) {
			t.Errorf("the run is %q", got)
		}
		storetest.Reopen(t, other, next, "a", "b")
	})
}

// steal makes another owner of a run, whose lease does not end.
func (d *database) steal(t testing.TB) {
	if d.exec(t, "UPDATE writ_runs SET owner = 'thief', epoch = epoch + 1, lease_until = lease_until + 3600000000") != 1 {
		t.Error("there is no run")
	}
}

// Nothing is written after another owner has the run, even if this owner's clock says that its lease is valid.
func TestFenced(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		s := d.store(t, 0)
		for name, write := range map[string]func(l journal.Log) error{
			"sync":    func(l journal.Log) error { return errors.Join(l.Append([]byte("b")), l.Sync()) },
			"replace": func(l journal.Log) error { return l.(journal.Replacer).Replace([][]byte{[]byte("b")}) },
		} {
			l := storetest.OpenRun(t, s, "run")
			storetest.Append(t, l, "a")
			d.steal(t)
			if err := write(l); !errors.Is(err, sqljournal.ErrLeaseLost) {
				t.Errorf("%s: %v", name, err)
			}
			lost(t, l)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := s.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
				t.Errorf("%s: Close has ended another owner's lease: %v", name, err)
			}
			d.exec(t, "UPDATE writ_runs SET lease_until = 0")
			next := storetest.OpenRun(t, s, "run")
			want(t, next, "a")
			next.Close()
			if err := s.Remove(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An owner notices at the next renewal that its run was taken, although it writes nothing.
func TestFencedByRenewal(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		d.steal(t)
		var renewals atomic.Int64
		f.set(nil, func(_ context.Context, statement string, _ []driver.NamedValue) error {
			if strings.HasPrefix(statement, "UPDATE") {
				renewals.Add(1)
			}
			return nil
		})
		for l.Sync() == nil { // without a record, it does not ask the database
			time.Sleep(10 * time.Millisecond)
		}
		lost(t, l)
		if n := renewals.Load(); n != 1 {
			t.Errorf("the owner noticed it after %d renewals", n)
		}
	})
}

// A run that was removed and created again has another owner, although its epoch is the same.
func TestFencedAfterRemove(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		s := d.store(t, 0)
		l := storetest.OpenRun(t, s, "run")
		d.exec(t, "UPDATE writ_runs SET lease_until = 0")
		if err := s.Remove(t.Context(), "run"); err != nil {
			t.Fatal(err)
		}
		next := storetest.OpenRun(t, s, "run")
		if err := errors.Join(l.Append([]byte("x")), l.Sync()); !errors.Is(err, sqljournal.ErrLeaseLost) {
			t.Errorf("the old owner writes: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		storetest.Append(t, next, "a")
		storetest.Reopen(t, s, next, "a")
	})
}

// A renewal that is answered after the lease has ended does not bring back a lost log.
func TestLateRenewal(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		begun, ended := make(chan struct{}), make(chan struct{})
		var once, last sync.Once
		f.set(func(ctx context.Context, statement string, _ []driver.NamedValue) error {
			if strings.Contains(statement, "lease_until = {now}") || strings.HasPrefix(statement, "UPDATE") {
				once.Do(func() { close(begun) })
				time.Sleep(2 * time.Second) // it ignores the context, as a packet on its way does
				last.Do(func() { close(ended) })
			}
			return nil
		}, nil)
		<-begun
		for l.Append([]byte("x")) == nil {
			time.Sleep(10 * time.Millisecond)
		}
		lost(t, l)
		f.set(nil, nil)
		<-ended
		lost(t, l)
	})
}

// When many want to own a run, one does.
func TestOpenAtTheSameTime(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var stores []*sqljournal.Store
		for range 8 {
			stores = append(stores, d.store(t, 0))
		}
		for round := range 5 {
			var all sync.WaitGroup
			var owners atomic.Int64
			logs := make([]journal.Log, len(stores))
			for i, s := range stores {
				all.Go(func() {
					var err error
					if logs[i], err = s.Open(t.Context(), "run"); err == nil {
						owners.Add(1)
					} else if !errors.Is(err, journal.ErrInUse) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if owners.Load() != 1 {
				t.Errorf("round %d: %d owners", round, owners.Load())
			}
			for _, l := range logs {
				if l != nil {
					l.Close()
				}
			}
		}
	})
}

// The clock of a host is never used, because it may differ from the database's clock by an hour. No statement has a
// time, and a host whose clock is late by years, as in a synctest bubble, agrees with others about leases.
func TestHostClock(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		large := regexp.MustCompile(`\d{12}`)
		f.set(func(_ context.Context, statement string, args []driver.NamedValue) error {
			for _, a := range args {
				if b, ok := a.Value.([]byte); !ok && large.MatchString(fmt.Sprint(b, a.Value)) {
					t.Errorf("the value %v may be a time: %s", a.Value, statement)
				}
				if at, ok := a.Value.(time.Time); ok {
					t.Errorf("the value %v is a time: %s", at, statement)
				}
			}
			if large.MatchString(strings.ReplaceAll(statement, "86400000000", "")) && !strings.Contains(statement, "lock") {
				t.Errorf("the statement may have a time: %s", statement)
			}
			return nil
		}, nil)
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		storetest.Append(t, l, "a")
		if d.driver == "pgx" { // it does not work in a bubble
			return
		}
		synctest.Test(t, func(t *testing.T) {
			if time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) > 0 {
				t.Fatal("the bubble has the time of the host")
			}
			db := d.open(t)
			defer db.Close()
			other, err := sqljournal.Open(t.Context(), db, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
				t.Errorf("the host with the early clock opens the run: %v", err)
			}
			early, err := other.Open(t.Context(), "early")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(context.Background(), "early"); !errors.Is(err, journal.ErrInUse) {
				t.Errorf("the host with the late clock opens the run: %v", err)
			}
			if err := errors.Join(early.Append([]byte("b")), early.Sync(), early.Close()); err != nil {
				t.Error(err)
			}
		})
		want(t, storetest.OpenRun(t, s, "early"), "b")
	})
}
