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
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
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

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(*testing.T) journal.Store { return journal.NewMemory() })
	})
	t.Run("dir", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) journal.Store {
			dir, _ := openDir(t)
			return dir
		})
	})
}

func TestDirPermissions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir, path := openDir(t)
	storetest.Append(t, storetest.OpenRun(t, dir, "run"), strings.Repeat("b", 100_000))
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
	l := storetest.OpenRun(t, dir, "run")
	storetest.Append(t, l, "a", large, large)
	l = storetest.Reopen(t, dir, l, "a", large, large)
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
		got, err := storetest.Records(l)
		if len(got) != 1 || err == nil || !strings.HasPrefix(err.Error(), `journal: record 2 of run "run": `) ||
			!strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "or remove the run") {
			t.Errorf("%d records, %v; want %q", len(got), err, want)
		}
	}
	storetest.Append(t, l, large) // it is stored again
	storetest.Reopen(t, dir, l, "a", large, large, large)
}

// Files of large records that were replaced are removed, also if a crash has left them.
func TestReplaceRemovesLargeRecords(t *testing.T) {
	t.Parallel()
	dir, path := openDir(t)
	l := storetest.OpenRun(t, dir, "run")
	large := strings.Repeat("x", 70_000)
	storetest.Append(t, l, large, large+"y", large+"z")
	if err := l.(journal.Replacer).Replace([][]byte{[]byte("a"), []byte(large + "y")}); err != nil {
		t.Fatal(err)
	}
	storetest.Reopen(t, dir, l, "a", large+"y")
	files, err := os.ReadDir(filepath.Join(path, "run"))
	if err != nil || len(files) != 2 { // the log and a large record
		t.Errorf("%v, %v", files, err)
	}
}

// The folder of a run can be missing although its lock exists, because its owner died.
func TestDirAfterIncompleteCreation(t *testing.T) {
	t.Parallel()
	dir, path := openDir(t)
	l := storetest.OpenRun(t, dir, "run")
	l.Close()
	if err := os.RemoveAll(filepath.Join(path, "run")); err != nil {
		t.Fatal(err)
	}
	l = storetest.OpenRun(t, dir, "run")
	storetest.Append(t, l, "a")
	log := filepath.Join(path, "run", "log")
	if err := errors.Join(os.WriteFile(log+".new", []byte("wri"), 0o600)); err != nil {
		t.Fatal(err)
	}
	storetest.Reopen(t, dir, l, "a")
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
		storetest.Append(t, storetest.OpenRun(t, dir, "run"), "a", "b")
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
	storetest.Reopen(t, dir, l, "a", "b")
}

// BenchmarkLog appends and syncs a record, and writes and syncs the same number of bytes with package os alone, in
// turn. The metric x-raw is the median of the ratios of their times.
func BenchmarkLog(b *testing.B) {
	dir, path := openDir(b)
	l := storetest.OpenRun(b, dir, "run")
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
