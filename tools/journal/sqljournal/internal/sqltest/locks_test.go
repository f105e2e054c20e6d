package sqltest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal/internal/storetest"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// A Sync ends if its records cannot be written, although the lease is renewed.
func TestRecordsThatCannotBeWritten(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		full := errors.New("no space is left for records")
		f.set(func(_ context.Context, statement string, _ []driver.NamedValue) error {
			if strings.HasPrefix(statement, "INSERT INTO writ_records") {
				return full
			}
			return nil
		}, nil)
		err = errors.Join(l.Append([]byte("a")), l.Sync())
		if !errors.Is(err, full) || !errors.Is(err, sqljournal.ErrLeaseLost) {
			t.Errorf("Sync: %v", err)
		}
		lost(t, l)
	})
}

// A distant database has time for many records.
func TestManyRecordsInDistantDatabase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		f.set(func(ctx context.Context, _ string, _ []driver.NamedValue) error {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			return ctx.Err()
		}, nil)
		var records []string
		for i := range 60 {
			records = append(records, fmt.Sprint(i))
		}
		storetest.Append(t, l, records...)
		f.set(nil, nil)
		storetest.Reopen(t, s, l, records...)
	})
}

// A run that is created while it is removed keeps its records.
func TestCreatedDuringRemove(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		if d.driver == "sqlite" {
			t.Skip("a transaction that writes excludes all others")
		}
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), nil)
		if err != nil {
			t.Fatal(err)
		}
		other := d.store(t, 0)
		f.set(nil, func(_ context.Context, statement string, _ []driver.NamedValue) error {
			if strings.HasPrefix(statement, "SELECT 1 FROM writ_runs") {
				l := storetest.OpenRun(t, other, "run")
				storetest.Append(t, l, "a")
				l.Close()
			}
			return nil
		})
		if err := s.Remove(t.Context(), "run"); err != nil {
			t.Error(err)
		}
		want(t, storetest.OpenRun(t, other, "run"), "a")
	})
}

// An owner that is paused, or lost, within a transaction does not keep its locks, which the next owner waits for.
func TestPausedInTransaction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		if d.driver == "sqlite" {
			t.Skip("a paused transaction excludes all others")
		}
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		inserted, resumed := make(chan struct{}), make(chan struct{})
		var once sync.Once
		f.set(nil, func(_ context.Context, statement string, _ []driver.NamedValue) error {
			if strings.HasPrefix(statement, "INSERT INTO writ_records") {
				once.Do(func() { close(inserted) })
				<-resumed // it ignores the context, as a process does that is stopped
			}
			return nil
		})
		ended := make(chan error)
		go func() { ended <- errors.Join(l.Append([]byte("lost")), l.Sync()) }()
		<-inserted
		d.steal(t)
		d.exec(t, "UPDATE writ_runs SET lease_until = 0")
		next := storetest.OpenRun(t, d.store(t, 0), "run")
		storetest.Append(t, next, "a")
		close(resumed)
		if err := <-ended; !errors.Is(err, sqljournal.ErrLeaseLost) {
			t.Errorf("Sync: %v", err)
		}
		storetest.Reopen(t, d.store(t, 0), next, "a")
	})
}
