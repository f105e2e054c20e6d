package sqltest

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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

func TestStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		storetest.Run(t, func(t *testing.T) journal.Store { return d.fresh(t).store(t, 0) })
	})
}

// SQLite also works in memory with one connection, and in files with its default settings.
func TestStoreOnOtherSQLite(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(t *testing.T) string{
		"memory":  func(*testing.T) string { return ":memory:" },
		"default": func(t *testing.T) string { return t.TempDir() + "/db" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) journal.Store {
				db := (&database{"sqlite", dsn(t)}).open(t)
				if name == "memory" {
					db.SetMaxOpenConns(1)
				}
				s, err := sqljournal.Open(t.Context(), db, nil)
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, d *database, o *sqljournal.Options, want string) {
		t.Helper()
		_, err := sqljournal.Open(t.Context(), d.open(t), o)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "sqljournal: ") {
			t.Errorf("the error is %v; want %s", err, want)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		d := newSQLite(t)
		refused(t, d, &sqljournal.Options{Lease: time.Millisecond}, "the lease of 1ms is too short")
		refused(t, d, &sqljournal.Options{NoMigrate: true}, "no such table")
		d.dsn += "&_pragma=synchronous(NORMAL)"
		refused(t, d, nil, `the answer to PRAGMA synchronous is "1"`)
		refused(t, &database{"sqlite", "/missing/folder/db"}, nil, "unable to open database file")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		d := newPostgres(t)
		refused(t, d, &sqljournal.Options{NoMigrate: true}, "does not exist")
		d.dsn += " synchronous_commit=off"
		refused(t, d, nil, `the answer to SHOW synchronous_commit is "off"`)
	})
}

// A damaged run cannot be opened. Nobody owns it then, and it can be removed.
func TestDamage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		s := d.store(t, 0)
		enlarge := "UPDATE writ_records SET data = zeroblob(67108865) WHERE seq = 1"
		if d.driver == "pgx" {
			enlarge = "UPDATE writ_records SET data = convert_to(repeat('x', 67108865), 'UTF8') WHERE seq = 1"
		}
		for damage, want := range map[string]string{
			"UPDATE writ_records SET data = sum WHERE seq = 2": "record 2 has changed",
			"UPDATE writ_records SET sum = data WHERE seq = 3": "record 3 has changed",
			enlarge:                                                                    "record 1 has changed, is missing or is too large",
			"DELETE FROM writ_records WHERE seq = 2":                                   "record 2 has changed, is missing",
			"DELETE FROM writ_records WHERE seq = 1":                                   "record 1 has changed, is missing",
			"DELETE FROM writ_records WHERE seq = 3":                                   "does not end with record 3",
			"DELETE FROM writ_records":                                                 "does not end with record 3",
			"UPDATE writ_records SET seq = seq + 1 WHERE seq = 3":                      "record 3 has changed, is missing",
			"UPDATE writ_records SET run = 'other'":                                    "does not end with record 3",
			"UPDATE writ_runs SET head = (SELECT sum FROM writ_records WHERE seq = 1)": "does not end with record 3",
		} {
			l := storetest.OpenRun(t, s, "run")
			storetest.Append(t, l, "a", "b", "c")
			l.Close()
			d.exec(t, damage)
			for range 2 { // the first error must not leave the run in use
				_, err := s.Open(t.Context(), "run")
				if err == nil || !strings.Contains(err.Error(), want) ||
					!strings.Contains(err.Error(), "restore the database from a backup, or remove the run") {
					t.Errorf("%s: %v", damage, err)
				}
			}
			if err := s.Remove(t.Context(), "run"); err != nil {
				t.Error(err)
			}
			d.exec(t, "DELETE FROM writ_records")
		}
	})
}

// A record may have 64 MiB, and no more.
func TestLargeRecord(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		s := d.store(t, 0)
		l := storetest.OpenRun(t, s, "run")
		record := bytes.Repeat([]byte("0123456789abcdef"), 4<<20)
		if err := errors.Join(l.Append(record), l.Sync(), l.Append([]byte("b")), l.Close()); err != nil {
			t.Fatal(err)
		}
		l = storetest.OpenRun(t, s, "run")
		for got, err := range l.Records() {
			if !bytes.Equal(got, record) || err != nil {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
		for range 2 {
			if err := l.Append(append(record, 'x')); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
				t.Errorf("%v", err)
			}
		}
		if l.Sync() == nil {
			t.Error("the log was synced without its record")
		}
	})
}

// Those who apply the migrations themselves get the same tables.
func TestMigrations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		names, err := fs.Glob(sqljournal.Migrations(), "*.sql")
		if err != nil || len(names) == 0 {
			t.Fatalf("%q, %v", names, err)
		}
		for range 2 {
			for _, name := range names {
				text, err := fs.ReadFile(sqljournal.Migrations(), name)
				if err != nil {
					t.Fatal(err)
				}
				for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), ";\n") {
					d.exec(t, statement)
				}
			}
		}
		s, err := sqljournal.Open(t.Context(), d.open(t), &sqljournal.Options{NoMigrate: true})
		if err != nil {
			t.Fatal(err)
		}
		l := storetest.OpenRun(t, s, "run")
		storetest.Append(t, l, "a")
		storetest.Reopen(t, d.store(t, 0), l, "a")
	})
}

// child names the environment variable with the database of the processes that tests start.
const child = "WRIT_TEST_SQLJOURNAL"

// start starts the test in another process, which gets the database in [child].
func start(t *testing.T, d *database) (cmd *exec.Cmd, out *bufio.Reader, in io.WriteCloser) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), child+"="+d.driver+"|"+d.dsn)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(pipe), in
}

// started returns the database that start has passed to this process.
func started() (d *database, ok bool) {
	driver, dsn, ok := strings.Cut(os.Getenv(child), "|")
	return &database{driver, dsn}, ok
}

// Several processes create the tables of a database at the same time.
func TestMigrateInManyProcesses(t *testing.T) {
	if d, ok := started(); ok {
		fmt.Println("ready")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := sqljournal.Open(context.Background(), d.open(t), nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return
	}
	eachDatabase(t, func(t *testing.T, d *database) {
		var children []*exec.Cmd
		var outs []*bufio.Reader
		var ins []io.Writer
		for range 3 {
			cmd, out, in := start(t, d)
			if line, err := out.ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			children, outs, ins = append(children, cmd), append(outs, out), append(ins, in)
		}
		for _, in := range ins {
			fmt.Fprintln(in)
		}
		for i, cmd := range children {
			text, _ := io.ReadAll(outs[i])
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, text)
			}
		}
		storetest.OpenRun(t, d.store(t, 0), "run")
	})
}

// The run of a process that was killed can be opened when its lease has ended.
func TestKilledOwner(t *testing.T) {
	if d, ok := started(); ok {
		l := storetest.OpenRun(t, d.store(t, 2*time.Second), "run")
		storetest.Append(t, l, "a", "b")
		if err := l.Append([]byte("lost")); err != nil {
			t.Fatal(err)
		}
		fmt.Println("synced")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	eachDatabase(t, func(t *testing.T, d *database) {
		cmd, out, _ := start(t, d)
		if line, err := out.ReadString('\n'); line != "synced\n" {
			t.Errorf("the owner wrote %q, %v", line, err)
		}
		s := d.store(t, 0)
		if _, err := s.Open(t.Context(), "run"); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("the run of another process was opened: %v", err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		want(t, eventually(t, s, "run"), "a", "b")
		if got := d.query(t, "SELECT run, seq, epoch FROM writ_records ORDER BY seq"); !slices.Equal(got,
			[]string{"run 1 1", "run 2 1"}) {
			t.Errorf("the records are %q", got)
		}
	})
}
