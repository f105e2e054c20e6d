package sqljournal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// valid is how long an owner relies on its lease by its own monotonic clock, from before it asked the database. The two
// clocks may run at different speeds.
func (s *Store) valid() time.Duration { return s.lease - s.lease/10 }

// own renews the lease, and changes more columns of the run, if the log still owns the run.
func (l *log) own(s session, columns string, values ...any) error {
	n, err := s.exec("UPDATE writ_runs SET lease_until = {now} + "+fmt.Sprint(l.store.lease.Microseconds())+columns+
		" WHERE run = $1 AND owner = $2 AND epoch = $3", append([]any{l.run, l.owner, l.epoch}, values...)...)
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}

// renew renews the lease until the log is closed. Writing records renews it, too.
func (l *log) renew() {
	lease := l.store.lease
	for left := lease; left > 0; left = time.Until(l.deadline()) {
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(max(lease/30, left-lease/2)):
		}
		if time.Until(l.deadline()) > lease/2 {
			continue
		}
		before := time.Now()
		ctx, cancel := context.WithTimeout(l.ctx, lease/6)
		err := l.own(session{ctx, l.store.db, l.store.dialect}, "")
		if cancel(); err == nil || errors.Is(err, ErrLeaseLost) {
			_ = l.renewed(before, err)
		}
	}
}

// renewed notes that the lease was renewed after a time or, if err is set, that it has ended.
func (l *log) renewed(before time.Time, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return l.fail(err)
	}
	if until := before.Add(l.store.valid()); until.After(l.until) {
		l.until = until
	}
	return l.state()
}

// deadline returns when the lease ends.
func (l *log) deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// state returns why nothing more is written. The caller holds the lock.
func (l *log) state() error {
	if time.Now().After(l.until) {
		return l.fail(ErrLeaseLost)
	}
	return l.err
}

// fail ends the writing. The caller holds the lock.
func (l *log) fail(err error) error {
	if l.err == nil {
		l.err = fmt.Errorf("sqljournal: cannot write to the log of run %q, and nothing more will be written: %w",
			l.run, err)
	}
	return l.err
}

// release ends the lease.
func (l *log) release(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := session{ctx, l.store.db, l.store.dialect}.exec(
		"UPDATE writ_runs SET owner = '', lease_until = 0 WHERE run = $1 AND owner = $2", l.run, l.owner)
	return err
}
