package sqljournal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// dialect is what differs between the databases. In a statement, {now} is the database's clock. It is not the time of
// the transaction, which may have waited for a lock.
type dialect struct {
	replace *strings.Replacer
	begin   string   // in which {idle} is for how many milliseconds a lost client may keep its locks
	lock    string   // makes concurrent migrations wait
	commits string   // asks whether commits are durable
	unsafe  []string // the answers that mean that they are not
}

var postgres = &dialect{
	replace: strings.NewReplacer("{now}", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"{age}", "created, run"),
	begin: "BEGIN ISOLATION LEVEL READ COMMITTED; " +
		"SET LOCAL idle_in_transaction_session_timeout = {idle}",
	lock:    "SELECT pg_advisory_xact_lock(7022274591623847)",
	commits: "SHOW synchronous_commit",
	unsafe:  []string{"off"},
}

var sqlite = &dialect{
	replace: strings.NewReplacer("{now}", "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
		"{age}", "rowid", "$", "?"),
	begin:   "BEGIN IMMEDIATE",
	lock:    "SELECT 1",
	commits: "PRAGMA synchronous",
	unsafe:  []string{"0", "1"},
}

// detect finds out what the database is, and whether it keeps what is committed.
func detect(ctx context.Context, db *sql.DB) (*dialect, error) {
	var version, commits string
	d := postgres
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		d = sqlite
		if bad := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); bad != nil {
			return nil, errors.Join(err, bad)
		}
	} else if !strings.HasPrefix(version, "PostgreSQL ") {
		return nil, fmt.Errorf("it is %.100q; use PostgreSQL or SQLite", version)
	}
	err := db.QueryRowContext(ctx, d.commits).Scan(&commits)
	if err == nil && slices.Contains(d.unsafe, commits) {
		err = fmt.Errorf("a crash can lose what was committed, because the answer to %s is %q; "+
			"configure its connections so that commits are durable", d.commits, commits)
	}
	return d, err
}

// session executes statements in a transaction or, if conn is the database, each in a transaction of its own.
type session struct {
	ctx  context.Context
	conn interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	*dialect
	limit time.Duration // of each exec; 0 means no limit
}

// exec returns the number of rows that a statement has changed.
func (s session) exec(statement string, args ...any) (int64, error) {
	ctx, cancel := limited(s.ctx, s.limit)
	defer cancel()
	r, err := s.conn.ExecContext(ctx, s.replace.Replace(statement), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query calls add for each row of the result.
func (s session) query(add func(*sql.Rows) error, query string, args ...any) error {
	rows, err := s.conn.QueryContext(s.ctx, s.replace.Replace(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for err == nil && rows.Next() {
		err = add(rows)
	}
	return errors.Join(err, rows.Err())
}

// transact calls f in a transaction that writes. It does not use [sql.Tx], because some drivers do not interrupt its
// Commit, or leave the transaction open if Commit fails. The limit is that of each statement; 0 means no limit.
func (s *Store) transact(ctx context.Context, limit time.Duration, f func(session) error) error {
	connecting, cancel := limited(ctx, limit)
	defer cancel()
	conn, err := s.db.Conn(connecting)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := session{ctx, conn, s.dialect, limit}
	begin := strings.ReplaceAll(s.dialect.begin, "{idle}", fmt.Sprint((s.lease / 3).Milliseconds()))
	if _, err = t.exec(begin); err == nil {
		err = f(t)
	}
	if err == nil {
		_, err = t.exec("COMMIT")
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, bad := conn.ExecContext(ctx, "ROLLBACK"); bad != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // close the connection
		}
	}
	return err
}

func limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// retry calls f until it succeeds, its error says that it always fails, or the deadline, which may move, is near. Each
// call has a limit of time, because a lost connection may never answer.
func retry(ctx context.Context, limit time.Duration, deadline func() time.Time, f func(context.Context) error) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		once, cancel := context.WithTimeout(ctx, limit)
		err := f(once)
		cancel()
		if err == nil || always(err) || time.Until(deadline()) < wait {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func always(err error) bool {
	return errors.Is(err, journal.ErrInUse) || errors.Is(err, ErrLeaseLost) || errors.Is(err, errDamaged)
}
