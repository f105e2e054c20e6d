package sqltest

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

var errDown = errors.New("the connection was lost")

// proxy stands between a client and a PostgreSQL server, and can go down.
type proxy struct {
	server, dir string
	mu          sync.Mutex
	down        bool
	listener    net.Listener
	conns       []net.Conn
}

const socket = ".s.PGSQL.5432"

func newProxy(t testing.TB, d *database) (*proxy, *database) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "proxy") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host := regexp.MustCompile(`host=(\S+)`).FindStringSubmatch(d.dsn)[1]
	p := &proxy{server: filepath.Join(host, socket), dir: dir, down: true}
	p.setDown(t, false)
	t.Cleanup(func() { p.setDown(t, true) })
	return p, &database{d.driver, strings.Replace(d.dsn, host, dir, 1)}
}

// setDown ends all connections and accepts none, or accepts connections again.
func (p *proxy) setDown(t testing.TB, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down == down {
		return
	}
	p.down = down
	if down {
		p.listener.Close()
		for _, c := range p.conns {
			c.Close()
		}
		return
	}
	listener, err := net.Listen("unix", filepath.Join(p.dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	p.listener, p.conns = listener, nil
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.connect(client)
		}
	}()
}

func (p *proxy) connect(client net.Conn) {
	server, err := net.Dial("unix", p.server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns = append(p.conns, client); err == nil {
		p.conns = append(p.conns, server)
	}
	if err != nil || p.down {
		client.Close()
		return
	}
	go func() { _, _ = io.Copy(server, client) }()
	go func() { _, _ = io.Copy(client, server) }()
}

// goDown makes a database unavailable until up is called.
func goDown(t testing.TB, d *database) (client *database, down, up func()) {
	if d.driver == "pgx" {
		p, client := newProxy(t, d)
		return client, func() { p.setDown(t, true) }, func() { p.setDown(t, false) }
	}
	db := d.open(t)
	db.SetMaxOpenConns(1)
	exec := func(statement string) func() {
		return func() {
			for {
				_, err := db.Exec(statement)
				if err == nil {
					return
				}
				if !strings.Contains(err.Error(), "locked") {
					t.Error(err)
					return
				}
			}
		}
	}
	return &database{d.driver, strings.Replace(d.dsn, "busy_timeout(5000)", "busy_timeout(10)", 1)},
		exec("BEGIN EXCLUSIVE"), exec("ROLLBACK")
}

// A database that goes away for a third of a lease does not end a run. With WRIT_TEST_OUTAGE=10s, the lease is the
// default.
func TestOutage(t *testing.T) {
	outage, err := time.ParseDuration(cmp.Or(os.Getenv("WRIT_TEST_OUTAGE"), "2s"))
	if err != nil {
		t.Fatal(err)
	}
	lease := 3 * outage
	eachDatabase(t, func(t *testing.T, d *database) {
		client, down, up := goDown(t, d)
		s := client.store(t, lease)
		idle := storetest.OpenRun(t, s, "idle")
		l := storetest.OpenRun(t, s, "run")
		var records []string
		add := func() {
			record := fmt.Sprint("record ", len(records))
			if err := errors.Join(l.Append([]byte(record)), l.Sync()); err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
		}
		add()
		down()
		time.AfterFunc(outage, up)
		for range 20 {
			add()
		}
		storetest.Append(t, idle, "a")
		got := d.query(t, "SELECT run, epoch FROM writ_runs ORDER BY run")
		if !slices.Equal(got, []string{"idle 1", "run 1"}) {
			t.Errorf("the runs are %q", got)
		}
		storetest.Reopen(t, s, l, records...)
	})
}

// A Sync whose commit has no answer finds out whether the records are there.
func TestCommitWithoutAnswer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		for _, at := range []string{"BEGIN", "INSERT", "UPDATE", "COMMIT"} {
			var f faults
			s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), nil)
			if err != nil {
				t.Fatal(err)
			}
			l := storetest.OpenRun(t, s, "run")
			failures := 3
			fail := func(_ context.Context, statement string, _ []driver.NamedValue) error {
				if failures > 0 && strings.HasPrefix(statement, at) {
					failures--
					return errDown
				}
				return nil
			}
			f.set(nil, fail)
			storetest.Append(t, l, "a", "b")
			if failures > 0 {
				t.Errorf("%s: there were only %d failures", at, 3-failures)
			}
			failures = 3
			f.set(fail, nil)
			storetest.Append(t, l, "c")
			failures = 2
			f.set(nil, fail)
			if err := l.(journal.Replacer).Replace([][]byte{[]byte("a"), []byte("d")}); err != nil && at != "INSERT" {
				t.Error(err)
			}
			f.set(nil, nil)
			l = storetest.Reopen(t, s, l, "a", "d")
			storetest.Append(t, l, "e")
			storetest.Reopen(t, s, l, "a", "d", "e").Close()
			if err := s.Remove(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A run that was opened without an answer of the database can be opened again at once.
func TestOpenWithoutAnswer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		other := d.store(t, 0)
		for _, name := range []string{"new", "old", "old"} {
			ctx, cancel := context.WithCancel(t.Context())
			f.set(nil, func(_ context.Context, statement string, _ []driver.NamedValue) error {
				if statement == "COMMIT" {
					cancel()
					return errDown
				}
				return nil
			})
			if _, err := s.Open(ctx, name); !errors.Is(err, errDown) {
				t.Errorf("Open: %v", err)
			}
			f.set(nil, nil)
			l, err := other.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
		tries := 0
		f.set(nil, func(_ context.Context, statement string, _ []driver.NamedValue) error {
			if tries++; statement == "COMMIT" && tries < 10 {
				return errDown
			}
			return nil
		})
		storetest.OpenRun(t, s, "run")
	})
}

// Close ends a Sync that tries again and again, and the run can be opened at once.
func TestCloseDuringSync(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, hang := range []bool{false, true} {
			l := storetest.OpenRun(t, s, "run")
			storetest.Append(t, l, "a")
			tried := make(chan struct{}, 1000)
			f.set(func(ctx context.Context, statement string, _ []driver.NamedValue) error {
				if !strings.HasPrefix(statement, "INSERT INTO writ_records") {
					return nil
				}
				tried <- struct{}{}
				if hang {
					<-ctx.Done()
				}
				return errDown
			}, nil)
			ended := make(chan error)
			go func() { ended <- errors.Join(l.Append([]byte("b")), l.Sync()) }()
			<-tried
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err == nil || errors.Is(err, sqljournal.ErrLeaseLost) {
				t.Errorf("Sync: %v", err)
			}
			f.set(nil, nil)
			next, err := d.store(t, 0).Open(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			want(t, next, "a")
			next.Close()
			if err := s.Remove(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Many owners write to a run while the database fails, commits lack answers, and leases end early. What was synced
// stays, in its order, and nothing is written by two owners at a time.
func TestChaos(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		d.store(t, 0)
		var mu sync.Mutex
		var durable []string // the records of each Sync that has succeeded
		enough := func() bool {
			mu.Lock()
			defer mu.Unlock()
			owners := map[string]bool{}
			for _, record := range durable {
				owners[record[:1]] = true
			}
			return len(durable) > 100 && len(owners) > 1
		}
		owner := func(number int) {
			random := rand.New(rand.NewPCG(uint64(number), 0))
			var f faults
			fail := func(_ context.Context, statement string, _ []driver.NamedValue) error {
				mu.Lock()
				defer mu.Unlock()
				if random.IntN(20) == 0 && !strings.HasPrefix(statement, "SELECT") {
					return errDown
				}
				return nil
			}
			db := d.openFaulty(t, &f)
			s, err := sqljournal.Open(t.Context(), db, &sqljournal.Options{NoMigrate: true})
			if err != nil {
				t.Error(err)
				return
			}
			f.set(fail, fail)
			for i := 0; !enough(); i++ {
				mu.Lock()
				before := slices.Clone(durable)
				mu.Unlock()
				l, err := s.Open(t.Context(), "run")
				if errors.Is(err, journal.ErrInUse) || errors.Is(err, errDown) {
					time.Sleep(time.Millisecond)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				got, err := storetest.Records(l)
				if err != nil || !contains(got, before) {
					t.Errorf("%v; the run has %q, but these were durable: %q", err, got, before)
				}
				for k := 0; ; k++ {
					record := fmt.Sprintf("%d.%d.%d", number, i, k)
					if errors.Join(l.Append([]byte(record)), l.Sync()) != nil {
						break
					}
					mu.Lock()
					durable = append(durable, record)
					stop := random.IntN(20) == 0
					mu.Unlock()
					if stop {
						break
					}
				}
				l.Close()
			}
		}
		var all sync.WaitGroup
		for number := range 4 {
			all.Go(func() { owner(number) })
		}
		for !enough() {
			time.Sleep(20 * time.Millisecond)
			d.exec(t, "UPDATE writ_runs SET lease_until = 0")
		}
		all.Wait()
		d.exec(t, "UPDATE writ_runs SET lease_until = 0")
		got, err := storetest.Records(eventually(t, d.store(t, 0), "run"))
		if err != nil || !contains(got, durable) {
			t.Errorf("%v; the run has %q, but these were durable: %q", err, got, durable)
		}
	})
}

// contains reports whether records has some in their order.
func contains(records, some []string) bool {
	for _, record := range records {
		if len(some) > 0 && record == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}
