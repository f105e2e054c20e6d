package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

func openDir(t testing.TB) (*journal.Dir, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "runs")
	dir, err := journal.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path
}

// eachStore runs a test with every kind of Store.
func eachStore(t *testing.T, test func(t *testing.T, store journal.Store)) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(t, journal.NewMemory()) })
	t.Run("dir", func(t *testing.T) {
		t.Parallel()
		dir, _ := openDir(t)
		test(t, dir)
	})
}

func openRun(t testing.TB, store journal.Store, run string) journal.Log {
	t.Helper()
	l, err := store.Open(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendAll(t testing.TB, l journal.Log, records ...string) {
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

func recordsOf(l journal.Log) (records []string, err error) {
	for record, err := range l.Records() {
		if err != nil {
			return records, err
		}
		records = append(records, string(record))
	}
	return records, nil
}

// reopen closes a run and checks what is in it.
func reopen(t testing.TB, store journal.Store, l journal.Log, want ...string) journal.Log {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openRun(t, store, "run")
	if got, err := recordsOf(l); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d records, %v: %.300q\nwant %d: %.300q", len(got), err, got, len(want), want)
	}
	return l
}

func TestStoreKeepsRecords(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		l := openRun(t, store, "run")
		large := strings.Repeat("0123456789", 10_000)
		buffer := []byte("not retained")
		if err := l.Append(buffer); err != nil {
			t.Fatal(err)
		}
		clear(buffer)
		want := []string{"not retained", "", "r", large, "m", "l", large, strings.Repeat("y", 64<<10)}
		appendAll(t, l, want[1:]...)
		if got, err := recordsOf(l); err != nil || len(got) != 0 {
			t.Errorf("a new run: %q, %v", got, err)
		}
		l = reopen(t, store, l, want...)
		for record, err := range l.Records() {
			if string(record) != want[0] || err != nil {
				t.Errorf("the first record is %q, %v", record, err)
			}
			break
		}
		appendAll(t, l, "later")
		l = reopen(t, store, l, append(want, "later")...)
		reopen(t, store, l, append(want, "later")...)
	})
}

func TestStoreHasOneOwner(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		l := openRun(t, store, "run")
		appendAll(t, l, "a")
		if _, err := store.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) ||
			!strings.Contains(err.Error(), `run "run": the run is in use; wait until its owner has ended`) {
			t.Errorf("Open of a run in use: %v", err)
		}
		if err := store.Remove(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("Remove of a run in use: %v", err)
		}
		next := reopen(t, store, l, "a")
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Errorf("Close after Close: %v", err)
		}
		if _, err := store.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("the second Close of an earlier owner ended the ownership of the next: %v", err)
		}
		if l.Append([]byte("b")) == nil || l.Sync() == nil {
			t.Error("a closed log was written")
		}
		reopen(t, store, next, "a")
	})
}

func TestStoreReplacesRecords(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		l := openRun(t, store, "run")
		large := strings.Repeat("0123456789", 10_000)
		appendAll(t, l, "a", large, "b", large+"b")
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
		l = reopen(t, store, l, "c", large)
		appendAll(t, l, "d", large+"d")
		l = reopen(t, store, l, "c", large, "d", large+"d")
		if err := replace("f", "two\nlines"); err == nil {
			t.Error("a record with a line break was stored")
		}
		l = reopen(t, store, l, "c", large, "d", large+"d")
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		l = reopen(t, store, l)
		appendAll(t, l, "g")
		reopen(t, store, l, "g")
	})
}

func TestStoreListsAndRemovesRuns(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		list := func(want ...string) {
			t.Helper()
			if got, err := store.Runs(t.Context()); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
		list()
		for _, run := range []string{"z", "a.b-c_d", "10"} {
			appendAll(t, openRun(t, store, run), "x")
			if runtime.GOOS == "windows" { // its clock is coarse
				time.Sleep(20 * time.Millisecond)
			}
		}
		list("z", "a.b-c_d", "10")
		l := openRun(t, store, "run")
		appendAll(t, l, "a", strings.Repeat("b", 100_000))
		l.Close()
		for range 2 { // a run that does not exist is removed, too
			if err := store.Remove(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
		}
		list("z", "a.b-c_d", "10")
		reopen(t, store, openRun(t, store, "run"))
		list("z", "a.b-c_d", "10", "run")
	})
}

func TestStoreRefusesIDs(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
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
		openRun(t, store, strings.Repeat("a", 128))
	})
}

func TestDirPermissions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir, path := openDir(t)
	appendAll(t, openRun(t, dir, "run"), strings.Repeat("b", 100_000))
	files := 0
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if files++; err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
		return nil
	})
	if err != nil || files != 5 { // the folders, the lock, the log and a large record
		t.Errorf("%d files, %v", files, err)
	}
}

// A file that is not a log of this version is left alone.
func TestDirRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":       "",
		"other":       "diary\n",
		"newer":       "writ journal 2, run run 00\n",
		"another run": "writ journal 1, run other 00\n",
	} {
		dir, path := openDir(t)
		file := filepath.Join(path, "run", "log")
		err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first error must not leave the run locked
			if _, err := dir.Open(t.Context(), "run"); err == nil || errors.Is(err, journal.ErrInUse) ||
				!strings.Contains(err.Error(), `cannot open run "run": the log begins with "`+strings.TrimSpace(text)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s: the file was changed to %q, %v", name, got, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journal.OpenDir(file)
	if err == nil || !strings.Contains(err.Error(), "journal: cannot open the folder") {
		t.Errorf("%v", err)
	}
}

// Equal large records share a file. A record whose file is missing or has other content is an error.
func TestLargeRecords(t *testing.T) {
	t.Parallel()
	dir, path := openDir(t)
	large := strings.Repeat("x", 70_000)
	l := openRun(t, dir, "run")
	appendAll(t, l, "a", large, large)
	l = reopen(t, dir, l, "a", large, large)
	files, err := filepath.Glob(filepath.Join(path, "run", "[0-9a-f]*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if log, err := os.ReadFile(filepath.Join(path, "run", "log")); err != nil || bytes.Contains(log, []byte("xxx")) {
		t.Errorf("the log has a large record, or %v", err)
	}
	for want, damage := range map[string]func() error{
		"has changed":                 func() error { return os.WriteFile(files[0], []byte(large[1:]), 0o600) },
		"has more than 67108864 byte": func() error { return os.Truncate(files[0], 65<<20) },
		"no such file":                func() error { return os.Remove(files[0]) },
	} {
		if err := os.WriteFile(files[0], []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		got, err := recordsOf(l)
		if len(got) != 1 || err == nil || !strings.HasPrefix(err.Error(), `journal: record 2 of run "run": `) ||
			!strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "or remove the run") {
			t.Errorf("%d records, %v; want %q", len(got), err, want)
		}
	}
	appendAll(t, l, large) // it is stored again
	reopen(t, dir, l, "a", large, large, large)
}

// Files of large records that were replaced are removed, also if a crash has left them.
func TestReplaceRemovesLargeRecords(t *testing.T) {
	t.Parallel()
	dir, path := openDir(t)
	l := openRun(t, dir, "run")
	large := strings.Repeat("x", 70_000)
	appendAll(t, l, large, large+"y", large+"z")
	if err := l.(journal.Replacer).Replace([][]byte{[]byte("a"), []byte(large + "y")}); err != nil {
		t.Fatal(err)
	}
	reopen(t, dir, l, "a", large+"y")
	files, err := os.ReadDir(filepath.Join(path, "run"))
	if err != nil || len(files) != 2 { // the log and a large record
		t.Errorf("%v, %v", files, err)
	}
}

// The folder of a run can be missing although its lock exists, because its owner died.
func TestDirAfterIncompleteCreation(t *testing.T) {
	t.Parallel()
	dir, path := openDir(t)
	l := openRun(t, dir, "run")
	l.Close()
	if err := os.RemoveAll(filepath.Join(path, "run")); err != nil {
		t.Fatal(err)
	}
	l = openRun(t, dir, "run")
	appendAll(t, l, "a")
	log := filepath.Join(path, "run", "log")
	if err := errors.Join(os.WriteFile(log+".new", []byte("wri"), 0o600)); err != nil {
		t.Fatal(err)
	}
	reopen(t, dir, l, "a")
}

// Many goroutines append and sync.
func TestDirConcurrently(t *testing.T) {
	t.Parallel()
	dir, _ := openDir(t)
	l := openRun(t, dir, "run")
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
	got, err := recordsOf(openRun(t, dir, "run"))
	if slices.Sort(got); err != nil || len(got) != 80 || len(slices.Compact(got)) != 80 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// While some goroutines remove a run, others open it, and it never has two owners.
func TestRemoveAndOpen(t *testing.T) {
	t.Parallel()
	dir, _ := openDir(t)
	var owners atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				l, err := dir.Open(t.Context(), "run")
				if err == nil {
					if n := owners.Add(1); n != 1 {
						t.Errorf("%d owners", n)
					}
					runtime.Gosched()
					owners.Add(-1)
					err = l.Close()
				}
				err = errors.Join(err, dir.Remove(t.Context(), "run"))
				if err != nil && !errors.Is(err, journal.ErrInUse) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// ownerDir names the environment variable with the folder for the process that TestKilledOwner kills.
const ownerDir = "WRIT_TEST_JOURNAL_DIR"

// TestKilledOwner opens the run of another process while that process lives, and after it was killed.
func TestKilledOwner(t *testing.T) {
	if path := os.Getenv(ownerDir); path != "" {
		dir, err := journal.OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, openRun(t, dir, "run"), "a", "b")
		fmt.Println("synced")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	t.Parallel()
	dir, path := openDir(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledOwner$")
	child.Env = append(os.Environ(), ownerDir+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "synced\n" {
		t.Errorf("the owner wrote %q, %v", line, err)
	}
	if _, err := dir.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("the run of another process was opened: %v", err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	l, err := dir.Open(context.Background(), "run")
	if err != nil {
		t.Fatal(err)
	}
	reopen(t, dir, l, "a", "b")
}

// BenchmarkLog appends and syncs a record, and writes and syncs the same number of bytes with package os alone, in
// turn. The metric x-raw is the median of the ratios of their times.
func BenchmarkLog(b *testing.B) {
	dir, path := openDir(b)
	l := openRun(b, dir, "run")
	raw, err := os.Create(filepath.Join(path, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	record := []byte(strings.Repeat("x", 500))
	var ratios, each []float64
	for b.Loop() {
		start := time.Now()
		if _, err := raw.Write(record); err != nil {
			b.Fatal(err)
		}
		if err := raw.Sync(); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if err := errors.Join(l.Append(record), l.Sync()); err != nil {
			b.Fatal(err)
		}
		ours := time.Since(middle)
		ratios = append(ratios, float64(ours)/float64(middle.Sub(start)))
		each = append(each, float64(ours.Microseconds()))
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(each[len(each)/2], "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}
