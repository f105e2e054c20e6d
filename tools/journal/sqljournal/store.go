// Package sqljournal keeps durable runs in PostgreSQL or SQLite, so that several processes share them.
//
//	store, err := sqljournal.Open(ctx, db, nil)
//	if err != nil {
//		return err
//	}
//	runs := agent.NewRuns(store)
//
// The package has no driver. It is tested with modernc.org/sqlite and with the package stdlib of
// github.com/jackc/pgx/v5. Commits must be durable, which Open checks. For SQLite, set busy_timeout.
//
// The owner of a run has a lease, by the clock of the database, and renews it. What the owner writes is written only if
// it still owns the run. If the database is away for longer than the lease, the run ends with [ErrLeaseLost], has done
// nothing since, and can be resumed. If a process has died, its runs are in use until their leases end. The calls that
// it had in progress may still happen if it was only paused, so their outcome is unknown.
package sqljournal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/runid"
)

// Options configures a [Store]. Nil means the defaults.
type Options struct {
	// Lease is how long a run stays in use after its owner has died or lost the database, and, less a tenth, how long
	// a run survives without the database. The default is 30 seconds, and the minimum one second.
	Lease time.Duration

	// NoMigrate says that the tables exist. By default, Open creates them.
	NoMigrate bool
}

// Store is a [journal.Store] in a database. It is safe for concurrent use.
type Store struct {
	db      *sql.DB
	dialect *dialect
	lease   time.Duration
}

// Open returns a Store in PostgreSQL (version 10 or later) or SQLite (3.35 or later). The caller closes the database,
// after all logs. Nil options are the defaults.
func Open(ctx context.Context, db *sql.DB, o *Options) (s *Store, err error) {
	s = &Store{db: db, lease: 30 * time.Second}
	if o != nil && o.Lease != 0 {
		s.lease = o.Lease
	}
	if s.lease < time.Second {
		return nil, fmt.Errorf("sqljournal: the lease of %v is too short; the minimum is one second", s.lease)
	}
	if s.dialect, err = detect(ctx, db); err != nil {
		return nil, fmt.Errorf("sqljournal: cannot use the database: %w", err)
	}
	if o == nil || !o.NoMigrate {
		err = s.retry(ctx, migrate)
	} else {
		_, err = db.ExecContext(ctx, "SELECT epoch FROM writ_runs LIMIT 0")
	}
	if err != nil {
		return nil, fmt.Errorf("sqljournal: cannot create or find the tables: %w", err)
	}
	return s, nil
}

//go:embed *.sql
var migrations embed.FS

// Migrations returns the SQL files that create the tables, for those who apply them with a tool of their own: 1.sql,
// and in later versions 2.sql and so on. Both databases have the same files. It does no harm to apply a file twice.
func Migrations() fs.FS { return migrations }

// migrate applies the migrations, which do nothing if that was done before.
func migrate(t session) error {
	if err := t.query(func(*sql.Rows) error { return nil }, t.lock); err != nil {
		return err
	}
	text, err := migrations.ReadFile("1.sql")
	for statement := range strings.SplitAfterSeq(strings.TrimSpace(string(text)), ");\n") {
		if err == nil {
			_, err = t.exec(statement)
		}
	}
	return err
}

// retry repeats a transaction for some seconds if the database fails.
func (s *Store) retry(ctx context.Context, f func(session) error) error {
	end := time.Now().Add(5 * time.Second)
	return retry(ctx, 10*time.Second, func() time.Time { return end }, func(ctx context.Context) error {
		return s.transact(ctx, f)
	})
}

// Open implements [journal.Store]. The error wraps [journal.ErrInUse] while the lease of another owner is valid.
func (s *Store) Open(ctx context.Context, run string) (journal.Log, error) {
	l := &log{store: s, run: run, owner: rand.Text()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	err := runid.Check(run)
	if err == nil {
		if err = s.retry(ctx, l.claim); err != nil && !always(err) {
			_ = l.release(time.Second) // the database may have done what it has not answered
		}
	}
	if err != nil {
		l.cancel()
		return nil, fmt.Errorf("sqljournal: cannot open run %q: %w", run, err)
	}
	go l.renew()
	return l, nil
}

// Runs implements [journal.Store].
func (s *Store) Runs(ctx context.Context) (runs []string, err error) {
	err = session{ctx, s.db, s.dialect}.query(func(rows *sql.Rows) error {
		runs = append(runs, "")
		return rows.Scan(&runs[len(runs)-1])
	}, "SELECT run FROM writ_runs ORDER BY {age}")
	if err != nil {
		return nil, fmt.Errorf("sqljournal: cannot list the runs: %w", err)
	}
	return runs, nil
}

// Remove implements [journal.Store].
func (s *Store) Remove(ctx context.Context, run string) error {
	err := s.retry(ctx, func(t session) error {
		_, err := t.exec("DELETE FROM writ_runs WHERE run = $1 AND lease_until <= {now}", run)
		if err == nil {
			inUse := func(*sql.Rows) error { return journal.ErrInUse }
			err = t.query(inUse, "SELECT 1 FROM writ_runs WHERE run = $1", run)
		}
		if err == nil {
			_, err = t.exec("DELETE FROM writ_records WHERE run = $1", run)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("sqljournal: cannot remove run %q: %w", run, err)
	}
	return nil
}
