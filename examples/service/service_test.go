package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/stub"
)

// TestMain lets the test's own executable be the service.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		lease = time.Second
		main()
		return
	}
	os.Exit(m.Run())
}

var statuses = regexp.MustCompile(`(?m)^    (\d{3}) `)

// TestStory runs the example without arguments.
func TestStory(t *testing.T) {
	t.Parallel()
	var w strings.Builder
	if err := tell(t.Context(), &w, ""); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range statuses.FindAllStringSubmatch(w.String(), -1) {
		got = append(got, m[1])
	}
	want := strings.Fields("202 200 200 403 404 204 204 409 200 200")
	if !slices.Equal(got, want) || !strings.Contains(w.String(), `"output":{"answer":"This was refund 1."}`) {
		t.Errorf("got %v, want %v\n%s", got, want, &w)
	}
}

// service is a service whose model is a stub: it sends each of its replies when it is told to.
type service struct {
	*client
	t     *testing.T
	out   strings.Builder
	asks  chan struct{} // a request to the model
	reply chan string   // the reply
}

func newService(t *testing.T) *service {
	s := &service{t: t, asks: make(chan struct{}, 10), reply: make(chan string, 10)}
	model := httptest.NewServer(stub.OpenAI(&stub.Options{Key: "none", Answer: func(stub.Request) stub.Reply {
		s.asks <- struct{}{}
		return stub.Reply{Text: "```js\n" + <-s.reply + "\n```"}
	}}))
	t.Cleanup(model.Close)
	t.Cleanup(func() { close(s.reply) })
	t.Setenv("OPENAI_BASE_URL", model.URL)
	t.Setenv("OPENAI_API_KEY", "none")
	s.client = &client{w: &s.out, db: filepath.Join(t.TempDir(), "service.db"), model: "openai:stub"}
	s.begin()
	t.Cleanup(s.kill)
	return s
}

func (s *service) begin() {
	s.t.Helper()
	if err := s.start(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// asked waits until the model is asked.
func (s *service) asked() {
	s.t.Helper()
	select {
	case <-s.asks:
	case <-time.After(30 * time.Second):
		s.t.Fatal("the model is not asked")
	}
}

// do makes a request, whose response must contain a text.
func (s *service) do(line, want string) {
	s.t.Helper()
	s.out.Reset()
	if err := s.ask(s.t.Context(), line); err != nil || !strings.Contains(s.out.String(), want) {
		s.t.Fatalf("got %v, want %s\n%s", err, want, &s.out)
	}
}

// until makes a request again and again until the response contains a text.
func (s *service) until(line, want string) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(s.out.String(), want); {
		if s.do(line, ""); time.Now().After(deadline) {
			s.t.Fatalf("want %s\n%s", want, &s.out)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// A service that is killed after an effect, in the middle of a run, goes on with the run, and does not repeat the effect.
func TestKill(t *testing.T) {
	s := newService(t)
	s.do(`ann POST /runs {"input": {"task": "Refund order 7."}}`, "202")
	s.asked()
	s.kill() // before the model has replied
	s.begin()
	s.asked()
	s.reply <- "console.log(await refund({order: 7}))"
	s.reply <- "console.log(await refund({order: 7}))" // the request of the first process takes one
	run := "/runs/" + s.run
	s.until("ann GET "+run, "paused")
	s.do("ann GET "+run+"/tickets", "200")
	s.do("meg PUT "+run+"/tickets/"+s.ticket+` {"approved": true}`, "204")
	s.asked()
	s.kill() // after the refund
	s.begin()
	s.asked()
	s.reply <- `submit({answer: "over " + await refund({order: 8})})`
	s.reply <- `submit({answer: "over " + await refund({order: 8})})`
	s.until("ann GET "+run, "paused")
	s.do("ann GET "+run+"/tickets", "200")
	s.do("meg PUT "+run+"/tickets/"+s.ticket+` {"approved": true}`, "204")
	s.until("ann GET "+run, "over 2")
}

// SIGTERM ends streams of events at once, lets the run pause, and ends the process without an error, even if a client
// never sends the rest of a request.
func TestShutdown(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signal")
	}
	s := newService(t)
	s.do(`ann POST /runs {"input": {"task": "Refund order 7."}}`, "202")
	s.asked()
	r, err := http.NewRequest(http.MethodGet, s.url+"/runs/"+s.run+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ann-token")
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	slow, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_, _ = fmt.Fprint(slow, "POST /runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann-token\r\n"+
		"Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
	if _, err := slow.Read(make([]byte, 1)); err != nil { // the service reads the body
		t.Fatal(err)
	}
	if err := s.service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for buffer := make([]byte, 1024); err == nil; { // until the stream ends, while the run is in progress
		_, err = stream.Body.Read(buffer)
	}
	s.reply <- "submit({answer: await refund({order: 7})})"
	if err := s.service.Wait(); err != nil {
		t.Error(err)
	}
	s.begin()
	s.do("ann GET /runs/"+s.run, `"state":"paused"`)
}
