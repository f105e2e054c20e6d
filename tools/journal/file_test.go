package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// crashFile is a file of which a crash can lose everything that was written after the last Sync.
type crashFile struct {
	mu      sync.Mutex
	data    []byte
	durable []byte
	writes  []write // since the last Sync
	syncs   int
	fail    error         // what WriteAt and Sync return
	block   chan struct{} // Sync waits until it is closed, unless it is nil
}

type write struct {
	at   int64
	data []byte
}

func (f *crashFile) WriteAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return 0, f.fail
	}
	f.writes = append(f.writes, write{at, bytes.Clone(p)})
	f.data = append(append(f.data[:at:at], p...), f.data[min(len(f.data), int(at)+len(p)):]...)
	return len(p), nil
}

func (f *crashFile) Truncate(size int64) error {
	f.data = bytes.Clone(f.data[:size])
	return nil
}

func (f *crashFile) Sync() error {
	f.mu.Lock()
	data := bytes.Clone(f.data)
	f.syncs++
	f.mu.Unlock()
	if f.block != nil {
		<-f.block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		f.durable, f.writes = data, nil
	}
	return f.fail
}

func (f *crashFile) replace(data []byte) error { f.data = data; return f.fail }

func (f *crashFile) Close() error { return nil }

// lose returns the content after a crash that kept those bytes of the writes for which keep returns true. The others
// are zero, or missing at the end of the file.
func lose(durable []byte, writes []write, keep func(write, byte int) bool) []byte {
	after := bytes.Clone(durable)
	for i, w := range writes {
		for j, c := range w.data {
			if !keep(i, j) {
				continue
			}
			for at := int(w.at) + j; len(after) <= at; {
				after = append(after, 0)
			}
			after[int(w.at)+j] = c
		}
	}
	return after
}

func newLog(t testing.TB) (*fileLog, *crashFile) {
	t.Helper()
	f := &crashFile{}
	f.data, _ = firstLine("run")
	l, err := openLog("run", f.data, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, f
}

// step is the state after an operation on a log.
type step struct {
	appended, synced int
	durable          []byte
	writes           []write
}

// calls writes the log of 50 calls, each with three records and a Sync.
func calls(t testing.TB) (records []string, steps []step) {
	t.Helper()
	l, f := newLog(t)
	var s step
	for i := range 50 {
		for _, op := range []string{"issue", "dispatch", "settle"} {
			record := fmt.Sprintf(`{"op":%q,"id":"E%d","value":%q}`, op, i+1, strings.Repeat("x", i%7))
			if err := l.Append([]byte(record)); err != nil {
				t.Fatal(err)
			}
			records, s.appended = append(records, record), s.appended+1
			s.durable, s.writes = f.durable, f.writes
			steps = append(steps, s)
		}
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		s.synced, s.durable, s.writes = s.appended, f.durable, f.writes
		steps = append(steps, s)
	}
	return records, steps
}

// reopened opens a log with the content, and checks that it has a prefix of the records, and at least those that were
// synced. If rounds is 2, it appends one more record and opens the log again.
func reopened(t *testing.T, data []byte, records []string, s step, rounds int) {
	t.Helper()
	f := &crashFile{data: data}
	for round := range rounds {
		l, err := openLog("run", bytes.Clone(f.data), f, nil)
		if err != nil {
			t.Fatalf("synced %d of %d: %v\n%q", s.synced, s.appended, err, tail(data))
		}
		got := texts(t, l)
		if round == 1 {
			if n := len(got) - 1; n < 0 || got[n] != "more" {
				t.Fatalf("the record that was appended after the crash is missing: %q", got)
			} else {
				got = got[:n]
			}
		}
		if len(got) < s.synced || len(got) > s.appended || !slices.Equal(got, records[:len(got)]) {
			t.Fatalf("%d of %d records were synced, but %d were read\n%q", s.synced, s.appended, len(got), tail(data))
		}
		if round == 0 {
			if err := l.Append([]byte("more")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func tail(data []byte) []byte { return data[max(0, len(data)-600):] }

func texts(t testing.TB, l Log) (texts []string) {
	t.Helper()
	for record, err := range l.Records() {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(record))
	}
	return texts
}

// After a crash, a log has a prefix of the records that were appended, and all that were synced.
func TestLogAfterCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it is concurrent; the race detector would take 20 seconds")
	}
	t.Parallel()
	records, steps := calls(t)
	source := rand.New(rand.NewPCG(1, 2))
	for _, s := range steps {
		last := len(s.writes) - 1
		for cut := range s.writes[last].data { // every byte at which the last write can be torn
			kept := func(w, b int) bool { return w < last || b < cut }
			reopened(t, lose(s.durable, s.writes, kept), records, s, 1+cut%8/7)
		}
		for kept := range 1 << len(s.writes) { // every subset of the writes
			all := func(w, _ int) bool { return kept>>w&1 == 1 }
			reopened(t, lose(s.durable, s.writes, all), records, s, 2)
			torn, cut := source.IntN(len(s.writes)), source.IntN(100)
			for _, after := range []bool{false, true} { // one of them lost its beginning or its end
				reopened(t, lose(s.durable, s.writes, func(w, b int) bool {
					return all(w, b) && (w != torn || b < cut == after)
				}), records, s, 1)
			}
		}
	}
}

// If a byte before the last record that was synced has changed, the log cannot be opened. Otherwise, no synced record
// is lost.
func TestLogDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it is concurrent; the race detector would take 15 seconds")
	}
	t.Parallel()
	records, steps := calls(t)
	s := steps[len(steps)-1]
	data := lose(s.durable, s.writes, func(int, int) bool { return true })
	end := bytes.LastIndex(data, []byte(records[len(records)-1])) + len(records[len(records)-1]) + len("r") + 65
	for i := range data {
		for _, change := range []byte{1, 0x3a} { // 0x3a turns a line break into a digit
			if change != 1 && data[i] != '\n' {
				continue
			}
			changed := bytes.Clone(data)
			changed[i] ^= change
			f := &crashFile{data: changed}
			l, err := openLog("run", bytes.Clone(changed), f, nil)
			switch {
			case i <= end && err == nil:
				t.Fatalf("byte %d of %d was changed by %x, and the log was opened", i, len(data), change)
			case i <= end && len(f.writes) > 0:
				t.Fatalf("byte %d: a damaged log was changed", i)
			case i > end && (err != nil || len(texts(t, l)) != len(records)):
				t.Fatalf("byte %d of the last mark: %v", i, err)
			}
		}
	}
	at := bytes.Index(data, []byte(records[36]))
	_, err := openLog("run", append(bytes.Clone(data[:at]), data[at+1:]...), &crashFile{}, nil)
	if want := "record 37 is damaged, although it was durable"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// After an error, nothing is written, and the error remains.
func TestLogPoisoned(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for name, op := range map[string]func(*fileLog) error{
		"append": func(l *fileLog) error { return l.Append([]byte("b")) },
		"sync":   (*fileLog).Sync,
	} {
		l, f := newLog(t)
		if err := l.Append([]byte("a")); err != nil {
			t.Fatal(err)
		}
		f.fail = full
		first := op(l)
		f.fail = nil
		had := len(f.data)
		if !errors.Is(first, full) || !strings.Contains(first.Error(), `the log of run "run"`) {
			t.Errorf("%s: %v", name, first)
		}
		if err := l.Append([]byte("c")); err != first {
			t.Errorf("%s: Append: %v", name, err)
		}
		if err := l.Sync(); err != first || len(f.data) != had {
			t.Errorf("%s: Sync: %v; the file grew from %d to %d bytes", name, err, had, len(f.data))
		}
	}
	l, f := newLog(t)
	f.fail = full
	if _, err := openLog("run", f.data, f, nil); !errors.Is(err, full) {
		t.Errorf("open: %v", err)
	}
	if err := l.Append([]byte("a\nb")); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a line break: %v", err)
	}
	l, _ = newLog(t)
	record := []byte("ab")
	if err := l.Append(record[:1]); err != nil || string(record) != "ab" {
		t.Errorf("Append changed the memory behind the record to %q, %v", record, err)
	}
	l.size = maxLog - 50
	if err := l.Append([]byte("a")); err == nil || !strings.Contains(err.Error(), "its limit is 1073741824 bytes") {
		t.Errorf("a full log: %v", err)
	}
	if l, _ = newLog(t); l.Append(make([]byte, maxRecord+1)) == nil {
		t.Error("a record that is too large was appended")
	}
}

// Goroutines that call Sync during a Sync share the next one.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := newLog(t)
		before := f.syncs
		f.block = make(chan struct{})
		sync := func() {
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
		}
		appendRecords(t, l, "a", "b")
		go sync()
		synctest.Wait()
		appendRecords(t, l, "c", "d")
		for range 10 {
			go sync()
		}
		synctest.Wait()
		close(f.block)
		synctest.Wait()
		sync()
		if n := f.syncs - before; n != 2 {
			t.Errorf("the file was synced %d times; want twice", n)
		}
	})
}

// While a Sync is in progress, a Sync whose records are durable returns at once, and Close waits.
func TestDuringSync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := newLog(t)
		f.block = make(chan struct{})
		appendRecords(t, l, "a")
		go func() { _ = l.Sync() }()
		synctest.Wait()
		appendRecords(t, l, "b")
		closed := false
		go func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("the log was closed during a Sync")
		}
		close(f.block)
		synctest.Wait()
		if !closed {
			t.Error("the log was not closed after the Sync")
		}
		data := f.data // b was not durable
		data[bytes.LastIndex(data, []byte("br "))] = 0
		again, err := openLog("run", data, &crashFile{data: data}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, again); len(got) != 1 || got[0] != "a" {
			t.Errorf("%q", got)
		}
	})
}

// A record that a crash made unreadable does not come back when the records before it are written again.
func TestLostRecordsStayLost(t *testing.T) {
	t.Parallel()
	l, f := newLog(t)
	appendRecords(t, l, "a")
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	appendRecords(t, l, "b", "c")
	data := bytes.Clone(f.data)
	data[bytes.Index(data, []byte("br "))-1] = 0 // in the mark before b
	f = &crashFile{data: data}
	for _, want := range []string{"a", "a b"} {
		l, err := openLog("run", bytes.Clone(f.data), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(texts(t, l), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		appendRecords(t, l, "b")
	}
}

func appendRecords(t testing.TB, l *fileLog, records ...string) {
	t.Helper()
	for _, r := range records {
		if err := l.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that opened the lock of a run before another one removed the run does not become the owner.
func TestOwnRemoved(t *testing.T) {
	t.Parallel()
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, err := d.root.OpenFile(lockPrefix+"run", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, open := range []bool{false, true} {
		if err := d.Remove(t.Context(), "run"); err != nil {
			t.Fatal(err)
		}
		if open { // by a third process
			l, err := d.Open(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		if err := d.own(file, "run"); err != ErrInUse {
			t.Errorf("%v; want ErrInUse", err)
		}
	}
}

// FuzzLog reads any file. A log that can be opened has the same records when it is opened again.
func FuzzLog(f *testing.F) {
	first, _ := firstLine("run")
	records, steps := calls(f)
	s := steps[8]
	whole := lose(s.durable, s.writes, func(int, int) bool { return true })
	f.Add(whole, 0, []byte(nil))
	f.Add(whole, len(whole)-10, []byte{0, 0, 0})
	f.Add(first, len(first), []byte(records[0]))
	f.Add([]byte("{}\n"), 3, []byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte, cut int, more []byte) {
		if cut >= 0 && cut < len(data) {
			data = append(bytes.Clone(data[:cut]), more...)
		}
		file := &crashFile{data: bytes.Clone(data)}
		l, err := openLog("run", data, file, nil)
		if err != nil {
			if !bytes.Equal(file.data, data) {
				t.Fatalf("a file that cannot be opened was changed from %q to %q", data, file.data)
			}
			return
		}
		again, err := openLog("run", bytes.Clone(file.data), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		read := func(l *fileLog) string {
			var b strings.Builder
			for record, err := range l.Records() {
				fmt.Fprintf(&b, "%q %v\n", record, err)
			}
			return b.String()
		}
		if read(l) != read(again) {
			t.Errorf("got %s and then %s", read(l), read(again))
		}
	})
}
