package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// row is a line of the tool server's log: a request that took effect or, if the server honors the IDs of effects, one
// whose effect had been made before.
type row struct {
	Tool   string `json:"tool"`
	Order  string `json:"order"`
	Effect string `json:"effect"` // its ID
	Worker string `json:"worker"`
	Again  bool   `json:"again,omitempty"` // nothing was done
}

func (r row) String() string {
	again := ""
	if r.Again {
		again = "  (asked again; nothing was done)"
	}
	return fmt.Sprintf("%-6s %-8s %s  by %s%s", r.Tool, r.Order, r.Effect[strings.LastIndex(r.Effect, ":")+1:],
		r.Worker, again)
}

// toolServer ships and refunds orders. It knows nothing of agents and workflows.
type toolServer struct {
	config
	mu   sync.Mutex
	log  *os.File
	made map[string]bool
}

// runToolServer serves until standard input ends. The address is the line that it prints.
func runToolServer(c config) error {
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	listener, bad := net.Listen("tcp", "127.0.0.1:0")
	if err = cmp.Or(err, bad); err != nil {
		return err
	}
	s := &http.Server{Handler: &toolServer{config: c, log: log, made: map[string]bool{}},
		ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }()
	ready("http://" + listener.Addr().String())
	return s.Close()
}

// ServeHTTP makes an effect: POST /ship {"order": "7"}.
func (s *toolServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r := row{Tool: strings.TrimPrefix(q.URL.Path, "/"), Effect: q.Header.Get("Idempotency-Key"),
		Worker: q.Header.Get("User-Agent")}
	if err := json.NewDecoder(http.MaxBytesReader(w, q.Body, 1<<10)).Decode(&r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(s.Pause / 2) // a worker may be killed before the effect, or after it
	err := s.do(r)
	time.Sleep(s.Pause / 2)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *toolServer) do(r row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Again = s.Honors && s.made[r.Effect]
	s.made[r.Effect] = true
	line, err := json.Marshal(r)
	if err == nil {
		_, err = s.log.Write(append(line, '\n'))
	}
	return err
}

// rows reads the log of a tool server.
func rows(file string) (all []row, err error) {
	text, err := os.ReadFile(file)
	for line := range bytes.Lines(text) {
		var r row
		if json.Unmarshal(line, &r) == nil { // the last line may be incomplete
			all = append(all, r)
		}
	}
	return all, err
}

// count returns the number of effects in rows, and how many were made more than once.
func count(all []row) (effects, repeated, again int) {
	made := map[string]int{}
	for _, r := range all {
		if r.Again {
			again++
		} else if made[r.Tool+" "+r.Order]++; made[r.Tool+" "+r.Order] == 2 {
			repeated++
		}
	}
	return len(made), repeated, again
}

// post makes a request to a tool server. The server learns the ID of the effect, which stays the same when a worker
// tries again.
func post(ctx context.Context, url, effect, worker string, o order) error {
	body, err := json.Marshal(o)
	q, bad := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err = cmp.Or(err, bad); err != nil {
		return err
	}
	q.Header.Set("Idempotency-Key", effect)
	q.Header.Set("User-Agent", worker)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the tool server answers %s", answer.Status)
	}
	return nil
}
