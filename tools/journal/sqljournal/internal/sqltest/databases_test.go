package sqltest

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// database is an empty database.
type database struct {
	driver, dsn string
}

// eachDatabase runs a test with SQLite and with PostgreSQL.
func eachDatabase(t *testing.T, test func(t *testing.T, d *database)) {
	t.Helper()
	t.Parallel()
	for name, create := range map[string]func(testing.TB) *database{
		"SQLite": newSQLite, "PostgreSQL": newPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, create(t))
		})
	}
}

func newSQLite(t testing.TB) *database {
	return &database{"sqlite", "file:" + filepath.Join(t.TempDir(), "db") +
		"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)"}
}

func newPostgres(t testing.TB) *database {
	server := os.Getenv("WRIT_POSTGRES")
	if server == "" {
		t.Skip("WRIT_POSTGRES is not set")
	}
	schema := "t" + strings.ToLower(rand.Text())
	d := &database{"pgx", server + " search_path=" + schema}
	d.exec(t, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { d.exec(t, "DROP SCHEMA "+schema+" CASCADE") })
	return d
}

// fresh returns another empty database of the same kind.
func (d *database) fresh(t testing.TB) *database {
	if d.driver == "sqlite" {
		return newSQLite(t)
	}
	return newPostgres(t)
}

// open returns a new pool of connections.
func (d *database) open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// exec executes a statement, and returns the number of rows that it has changed.
func (d *database) exec(t testing.TB, statement string, args ...any) int64 {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Exec(statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// query returns the rows of a query, in which spaces separate the columns.
func (d *database) query(t testing.TB, query string) (list []string) {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i := range values {
			values[i] = *values[i].(*any)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintln(values...)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// store returns a Store with connections of its own, as another process has it. A lease of 0 is the default.
func (d *database) store(t testing.TB, lease time.Duration) *sqljournal.Store {
	t.Helper()
	s, err := sqljournal.Open(t.Context(), d.open(t), &sqljournal.Options{Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
