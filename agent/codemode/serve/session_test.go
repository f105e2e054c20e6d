package serve_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestAbandonedSessions has clients that begin a session and disconnect before the response. Such
// sessions count against the limit.
func TestAbandonedSessions(t *testing.T) {
	t.Parallel()
	const most = 5
	r := start(t, serve.WithLimits(serve.Options{Rate: -1}, serve.Limits{Sessions: most}))
	request := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(initialize), initialize)
	for i := range sample(300, 2000) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, request)
		time.Sleep(time.Duration(i%50) * 10 * time.Microsecond) // to be gone at every stage of it
		_ = conn.(*net.TCPConn).SetLinger(0)                    // else it would not be so sudden
		_ = conn.Close()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		live := 0
		for range r.server(serve.Principal{Name: "local"}).Sessions() {
			live++
		}
		metrics := r.meters.Text()
		if live <= most && strings.Contains(metrics, fmt.Sprintf("writ.mcp.server.sessions{} %d\n", live)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions live, %d may be; the server counts:\n%s", live, most, metrics)
		}
	}
}
