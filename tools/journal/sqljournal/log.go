package sqljournal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/chain"
	"github.com/writ-go/writ/tools/journal"
)

const (
	maxRecord = 64 << 20
	maxLog    = 1 << 30 // of the records that are read
)

// ErrLeaseLost is returned by the log of a run whose lease was not renewed in time, or that has another owner. The log
// writes nothing more.
var ErrLeaseLost = errors.New("the lease of the run has ended; open the run again")

var (
	errDamaged  = errors.New("the run is damaged; restore the database from a backup, or remove the run")
	errClosed   = errors.New("sqljournal: the log is closed")
	errReplaced = errors.New("sqljournal: the records of the log were replaced; close it and open it again")
)

// log implements [journal.Log] and [journal.Replacer].
type log struct {
	store   *Store
	run     string
	owner   string // random
	epoch   int64
	records [][]byte // that the log had when it was opened
	ctx     context.Context
	cancel  func()

	writing sync.Mutex // held while records are written; locked before mu

	mu     sync.Mutex
	last   row       // the last record
	buffer []row     // the records that are not durable
	until  time.Time // when the lease ends, by the monotonic clock
	err    error     // why nothing more is written
}

// row is a record.
type row struct {
	seq  int64
	sum  chain.Sum
	data []byte
}

// firstRow comes before the first record.
func firstRow(run string) row {
	_, sum := chain.Sum{}.Append(nil, []byte("writ sqljournal 1, run "+run))
	return row{sum: sum}
}

// after returns the next row.
func (r row) after(record []byte) (row, error) {
	if len(record) > maxRecord || bytes.IndexByte(record, '\n') >= 0 {
		return r, errors.New("the record has a line break or more than 64 MiB")
	}
	_, sum := r.sum.Append(nil, record)
	return row{r.seq + 1, sum, append([]byte{}, record...)}, nil
}

// claim takes the lease of a run that nobody owns, creates the run if it is new, and reads it. It may be repeated.
func (l *log) claim(s session) error {
	l.until = time.Now().Add(l.store.valid())
	var last *row
	scan := func(rows *sql.Rows) error {
		last = &row{}
		return rows.Scan(&l.epoch, &last.seq, &last.data)
	}
	first := firstRow(l.run)
	err := s.query(scan, `UPDATE writ_runs SET epoch = epoch + 1, owner = $2, lease_until = {now} + $3
		WHERE run = $1 AND (lease_until <= {now} OR owner = $2) RETURNING epoch, records, head`,
		l.run, l.owner, l.store.lease.Microseconds())
	if err == nil && last == nil {
		err = s.query(scan, `INSERT INTO writ_runs (run, owner, lease_until, created, epoch, records, head)
			VALUES ($1, $2, {now} + $3, {now}, 1, 0, $4)
			ON CONFLICT (run) DO NOTHING RETURNING epoch, records, head`,
			l.run, l.owner, l.store.lease.Microseconds(), first.sum[:])
	}
	if err == nil && last == nil {
		err = journal.ErrInUse
	}
	if err == nil {
		err = l.read(s, first)
	}
	if err == nil && (l.last.seq != last.seq || !bytes.Equal(l.last.sum[:], last.data)) {
		err = fmt.Errorf("%w: it does not end with record %d as it was written", errDamaged, last.seq)
	}
	return err
}

// read reads the records.
func (l *log) read(s session, first row) error {
	size := 0
	l.records, l.last = nil, first
	return s.query(func(rows *sql.Rows) error {
		var seq int64
		var sum, data []byte
		if err := rows.Scan(&seq, &sum, &data); err != nil {
			return err
		}
		next, err := l.last.after(data)
		if size += len(data); err != nil || next.seq != seq || !bytes.Equal(next.sum[:], sum) || size > maxLog {
			return fmt.Errorf("%w: record %d has changed, is missing or is too large", errDamaged, l.last.seq+1)
		}
		l.records, l.last = append(l.records, next.data), next
		return nil
	}, fmt.Sprintf("SELECT seq, sum, CASE WHEN length(data) <= %d THEN data END FROM writ_records "+
		"WHERE run = $1 ORDER BY seq", maxRecord), l.run)
}

// Records implements [journal.Log].
func (l *log) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range l.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Append implements [journal.Log].
func (l *log) Append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.state(); err != nil {
		return err
	}
	next, err := l.last.after(record)
	if err != nil {
		return l.fail(err)
	}
	l.buffer, l.last = append(l.buffer, next), next
	return nil
}

// Sync implements [journal.Log]. It also writes the records of the goroutines that wait for it.
func (l *log) Sync() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	rows, err := l.buffer, l.state()
	l.buffer = nil
	l.mu.Unlock()
	if err == nil && len(rows) > 0 {
		err = l.write(rows, false)
	}
	return err
}

// Replace implements [journal.Replacer].
func (l *log) Replace(records [][]byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	err := l.state()
	l.mu.Unlock()
	last, rows := firstRow(l.run), []row{}
	for i := 0; i < len(records) && err == nil; i++ {
		last, err = last.after(records[i])
		rows = append(rows, last)
	}
	if err == nil {
		err = l.write(rows, true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return l.fail(err)
	}
	l.err = errReplaced
	return nil
}

// write writes rows. If the database fails, it tries again while the lease is valid.
func (l *log) write(rows []row, replace bool) error {
	size := 0
	for _, r := range rows {
		size += len(r.data)
	}
	limit := l.store.lease/3 + time.Duration(size>>20)*time.Second
	var before time.Time
	err := retry(l.ctx, limit, l.deadline, func(ctx context.Context) error {
		return l.store.transact(ctx, func(s session) (err error) {
			before, err = l.insert(s, rows, replace)
			return err
		})
	})
	if err != nil && !always(err) {
		err = fmt.Errorf("%w; the database has failed: %w", ErrLeaseLost, err)
	}
	return l.renewed(before, err)
}

// insert inserts rows. An earlier try may have done so, although its answer was lost. The row of the run comes last, so
// that it is not locked for long. insert returns a time before the lease was renewed.
func (l *log) insert(s session, rows []row, replace bool) (before time.Time, err error) {
	if replace {
		_, err = s.exec("DELETE FROM writ_records WHERE run = $1", l.run)
	}
	last := firstRow(l.run)
	for i := 0; i < len(rows) && err == nil; i++ {
		last = rows[i]
		_, err = s.exec(`INSERT INTO writ_records (run, seq, epoch, data, sum) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (run, seq) DO NOTHING`, l.run, last.seq, l.epoch, last.data, last.sum[:])
	}
	before = time.Now()
	if err == nil {
		err = l.own(s, ", records = $4, head = $5", last.seq, last.sum[:])
	}
	return before, err
}

// Close implements [journal.Log]. It interrupts a Sync in progress.
func (l *log) Close() error {
	l.mu.Lock()
	closed := l.err == errClosed
	l.err = errClosed
	l.mu.Unlock()
	if closed {
		return nil
	}
	l.cancel()
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.release(5 * time.Second); err != nil {
		return fmt.Errorf("sqljournal: cannot release run %q, which stays in use until its lease ends: %w", l.run, err)
	}
	return nil
}
