package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/writ-go/writ/internal/leaktest"
)

// serverEnv makes the test binary a tool server that writes its log to the file that the variable names.
const serverEnv = "WRIT_FAULTS_SERVER_LOG"

// rival is what a process does that goes on with a run, if the system has the signals for TestRivals.
var rival func(config string)

func TestMain(m *testing.M) {
	if path := os.Getenv(serverEnv); path != "" {
		serve(path)
		return
	}
	if config := os.Getenv("WRIT_FAULTS_RIVAL"); config != "" {
		rival(config)
		return
	}
	os.Exit(leaktest.Run(m.Run))
}

// fate is how the server treats a call that has an effect.
type fate string

const (
	answer     fate = ""
	failBefore fate = "fail before"
	failAfter  fate = "fail after" // the effect takes place, and the server reports an error
	hangBefore fate = "hang before"
	hangAfter  fate = "hang after" // the effect takes place, and no answer comes
	reject     fate = "reject"     // the server says that it has done nothing
)

var fates = []fate{failBefore, failAfter, hangBefore, hangAfter, reject}

// call is a request to the server.
type call struct {
	Scenario int    `json:"scenario"`
	Tool     string `json:"tool"`
	To       string `json:"to,omitempty"` // the recipient, or whatever else the effect is about
	Text     string `json:"text,omitempty"`
	Effect   string `json:"effect,omitempty"` // the ID of the effect
	Named    bool   `json:"named,omitempty"`  // the program says that it may repeat effects
	Fate     fate   `json:"fate,omitempty"`
}

// row is an effect that has taken place.
type row struct {
	call
	Number int `json:"number"` // the result, from 1
}

// server performs calls. Its state is its log.
type server struct {
	mu   sync.Mutex
	log  *os.File
	rows map[int][]row
}

func serve(path string) {
	log, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() { // ends with the parent
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	_ = http.Serve(listener, &server{log: log, rows: map[int][]row{}})
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var c call
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Tool == "mail.list" {
		to := []string{}
		for _, r := range s.rows[c.Scenario] {
			if r.Tool == "mail.send" {
				to = append(to, r.To)
			}
		}
		_ = json.NewEncoder(w).Encode(to)
		return
	}
	if c.Tool == "stock.get" {
		left := "100"
		for _, r := range s.rows[c.Scenario] {
			if r.Tool == "stock.set" {
				left = r.Text
			}
		}
		_, _ = io.WriteString(w, left)
		return
	}
	if c.Tool == "rows" {
		_ = json.NewEncoder(w).Encode(s.rows[c.Scenario])
		return
	}
	switch c.Fate {
	case reject:
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	case failBefore:
		http.Error(w, "", http.StatusBadGateway)
		return
	case hangBefore:
		http.Error(w, "", http.StatusGatewayTimeout)
		return
	}
	done := row{c, len(s.rows[c.Scenario]) + 1}
	line, _ := json.Marshal(done)
	if _, err := s.log.Write(append(line, '\n')); err != nil || s.log.Sync() != nil {
		os.Exit(1)
	}
	s.rows[c.Scenario] = append(s.rows[c.Scenario], done)
	switch c.Fate {
	case failAfter:
		http.Error(w, "", http.StatusBadGateway)
	case hangAfter:
		http.Error(w, "", http.StatusGatewayTimeout)
	default:
		_ = json.NewEncoder(w).Encode(done.Number)
	}
}

// startServer starts the server in another process, and returns its address and the path of its log.
func startServer(t *testing.T) (url, log string) {
	t.Helper()
	log = t.TempDir() + "/rows"
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+log)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + address[:len(address)-1], log
}

// readRows returns the rows in the server's log by scenario.
func readRows(t *testing.T, path string) map[int][]row {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[int][]row{}
	for d := json.NewDecoder(file); d.More(); {
		var r row
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rows[r.Scenario] = append(rows[r.Scenario], r)
	}
	return rows
}
