package sqltest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
	"testing"
)

// faults is called before and after each statement. An error of before is that of the statement, which is not executed.
// An error of after hides its result.
type faults struct {
	mu            sync.Mutex
	before, after func(ctx context.Context, statement string, args []driver.NamedValue) error
}

func (f *faults) set(before, after func(ctx context.Context, statement string, args []driver.NamedValue) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// around executes a statement.
func (f *faults) around(ctx context.Context, statement string, args []driver.NamedValue, execute func() error) error {
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, statement, args); err != nil {
			return err
		}
	}
	if err := execute(); err != nil || after == nil {
		return err
	}
	return after(ctx, statement, args)
}

// openFaulty returns a pool of connections with faults.
func (d *database) openFaulty(t testing.TB, f *faults) *sql.DB {
	t.Helper()
	db := sql.OpenDB(connector{d.open(t).Driver(), d.dsn, f})
	t.Cleanup(func() { db.Close() })
	return db
}

type connector struct {
	driver driver.Driver
	dsn    string
	faults *faults
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	inner, err := c.driver.Open(c.dsn)
	return conn{inner, c.faults}, err
}

type conn struct {
	driver.Conn
	faults *faults
}

func (c conn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (
	r driver.Result, err error,
) {
	err = c.faults.around(ctx, statement, args, func() error {
		r, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, statement, args)
		return err
	})
	return r, err
}

func (c conn) QueryContext(ctx context.Context, statement string, args []driver.NamedValue) (
	r driver.Rows, err error,
) {
	err = c.faults.around(ctx, statement, args, func() error {
		r, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, statement, args)
		return err
	})
	if err != nil && r != nil {
		r.Close()
	}
	return r, err
}

func (c conn) CheckNamedValue(v *driver.NamedValue) error {
	if inner, ok := c.Conn.(driver.NamedValueChecker); ok {
		return inner.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c conn) ResetSession(ctx context.Context) error {
	if inner, ok := c.Conn.(driver.SessionResetter); ok {
		return inner.ResetSession(ctx)
	}
	return nil
}
