// Package storetest tests what every journal.Store promises.
package storetest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// Run tests a kind of Store. It calls create for each test.
func Run(t *testing.T, create func(t *testing.T) journal.Store) {
	for name, test := range map[string]func(*testing.T, journal.Store){
		"keepsRecords":        keepsRecords,
		"hasOneOwner":         hasOneOwner,
		"replacesRecords":     replacesRecords,
		"listsAndRemovesRuns": listsAndRemovesRuns,
		"refusesIDs":          refusesIDs,
		"concurrently":        concurrently,
		"removeAndOpen":       removeAndOpen,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, create(t))
		})
	}
}

// OpenRun opens a run, and closes it when the test ends.
func OpenRun(t testing.TB, store journal.Store, run string) journal.Log {
	t.Helper()
	l, err := store.Open(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Append appends records and syncs them.
func Append(t testing.TB, l journal.Log, records ...string) {
	t.Helper()
	for _, r := range records {
		if err := l.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
}

// Records returns the records of a log.
func Records(l journal.Log) (records []string, err error) {
	for record, err := range l.Records() {
		if err != nil {
			return records, err
		}
		records = append(records, string(record))
	}
	return records, nil
}

// Reopen closes a run and checks what is in it.
func Reopen(t testing.TB, store journal.Store, l journal.Log, want ...string) journal.Log {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = OpenRun(t, store, "run")
	if got, err := Records(l); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d records, %v: %.300q\nwant %d: %.300q", len(got), err, got, len(want), want)
	}
	return l
}

func keepsRecords(t *testing.T, store journal.Store) {
	l := OpenRun(t, store, "run")
	large := strings.Repeat("0123456789", 10_000)
	buffer := []byte("not retained")
	if err := l.Append(buffer); err != nil {
		t.Fatal(err)
	}
	clear(buffer)
	want := []string{"not retained", "", "r", large, "m", "l", large, strings.Repeat("y", 64<<10)}
	Append(t, l, want[1:]...)
	if got, err := Records(l); err != nil || len(got) != 0 {
		t.Errorf("a new run: %q, %v", got, err)
	}
	l = Reopen(t, store, l, want...)
	for record, err := range l.Records() {
		if string(record) != want[0] || err != nil {
			t.Errorf("the first record is %q, %v", record, err)
		}
		break
	}
	Append(t, l, "later")
	l = Reopen(t, store, l, append(want, "later")...)
	Reopen(t, store, l, append(want, "later")...)
}

func hasOneOwner(t *testing.T, store journal.Store) {
	l := OpenRun(t, store, "run")
	Append(t, l, "a")
	if _, err := store.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) ||
		!strings.Contains(err.Error(), `run "run": the run is in use; wait until its owner has ended`) {
		t.Errorf("Open of a run in use: %v", err)
	}
	if err := store.Remove(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("Remove of a run in use: %v", err)
	}
	next := Reopen(t, store, l, "a")
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Errorf("Close after Close: %v", err)
	}
	if _, err := store.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("the second Close of an earlier owner ended the ownership of the next: %v", err)
	}
	if l.Append([]byte("b")) == nil || l.Sync() == nil {
		t.Error("a closed log was written")
	}
	Reopen(t, store, next, "a")
}

func replacesRecords(t *testing.T, store journal.Store) {
	l := OpenRun(t, store, "run")
	large := strings.Repeat("0123456789", 10_000)
	Append(t, l, "a", large, "b", large+"b")
	if err := l.Append([]byte("buffered")); err != nil {
		t.Fatal(err)
	}
	replace := func(records ...string) error {
		var list [][]byte
		for _, r := range records {
			list = append(list, []byte(r))
		}
		return l.(journal.Replacer).Replace(list)
	}
	if err := replace("c", large); err != nil {
		t.Fatal(err)
	}
	if l.Append([]byte("d")) == nil || l.Sync() == nil || replace("e") == nil {
		t.Error("the log was written after its records were replaced")
	}
	if _, err := store.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("Replace has ended the ownership: %v", err)
	}
	l = Reopen(t, store, l, "c", large)
	Append(t, l, "d", large+"d")
	l = Reopen(t, store, l, "c", large, "d", large+"d")
	if err := replace("f", "two\nlines"); err == nil {
		t.Error("a record with a line break was stored")
	}
	l = Reopen(t, store, l, "c", large, "d", large+"d")
	if err := replace(); err != nil {
		t.Fatal(err)
	}
	l = Reopen(t, store, l)
	Append(t, l, "g")
	Reopen(t, store, l, "g")
}

func listsAndRemovesRuns(t *testing.T, store journal.Store) {
	list := func(want ...string) {
		t.Helper()
		if got, err := store.Runs(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	list()
	for _, run := range []string{"z", "a.b-c_d", "10"} {
		Append(t, OpenRun(t, store, run), "x")
		if runtime.GOOS == "windows" { // its clock is coarse
			time.Sleep(20 * time.Millisecond)
		}
	}
	list("z", "a.b-c_d", "10")
	l := OpenRun(t, store, "run")
	Append(t, l, "a", strings.Repeat("b", 100_000))
	l.Close()
	for range 2 { // a run that does not exist is removed, too
		if err := store.Remove(t.Context(), "run"); err != nil {
			t.Fatal(err)
		}
	}
	list("z", "a.b-c_d", "10")
	Reopen(t, store, OpenRun(t, store, "run"))
	list("z", "a.b-c_d", "10", "run")
}

func refusesIDs(t *testing.T, store journal.Store) {
	for _, run := range []string{"", ".", "..", "../a", "a/b", `a\b`, "a\x00", "a\n", "-a", ".lock-a", "ä",
		strings.Repeat("a", 129)} {
		const want = "the ID is invalid; use at most 128 letters"
		if _, err := store.Open(t.Context(), run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open of %.20q: %v", run, err)
		}
	}
	if runs, err := store.Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("%q, %v", runs, err)
	}
	OpenRun(t, store, strings.Repeat("a", 128))
}

// Many goroutines append and sync.
func concurrently(t *testing.T, store journal.Store) {
	l := OpenRun(t, store, "run")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 10 {
				if err := errors.Join(l.Append(fmt.Appendf(nil, "%d.%d", i, j)), l.Sync()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Records(OpenRun(t, store, "run"))
	if slices.Sort(got); err != nil || len(got) != 80 || len(slices.Compact(got)) != 80 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// While some goroutines remove a run, others open it, and it never has two owners.
func removeAndOpen(t *testing.T, store journal.Store) {
	var owners atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 30 {
				l, err := store.Open(t.Context(), "run")
				if err == nil {
					if n := owners.Add(1); n != 1 {
						t.Errorf("%d owners", n)
					}
					runtime.Gosched()
					owners.Add(-1)
					err = l.Close()
				}
				err = errors.Join(err, store.Remove(t.Context(), "run"))
				if err != nil && !errors.Is(err, journal.ErrInUse) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
