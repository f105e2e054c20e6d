package serve_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// fullMessages returns messages of the maximum size, which are larger once they are decoded.
func fullMessages() map[string]string {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":`
	return map[string]string{
		"batch":      "[" + strings.Repeat("{},", 4<<20/3-10) + "{}]",
		"arguments":  call + `{"variables":{"a":[` + strings.Repeat("{},", 4<<20/3-100) + `{}]}}}}`,
		"members":    "{" + strings.Repeat(`"":0,`, 4<<20/5-10) + `"":0}`,
		"deep":       call + strings.Repeat("[", 4<<20-1000),
		"many calls": "[" + strings.Repeat(`{"id":1},`, 4<<20/9-10) + "1]",
	}
}

// TestFullMessages has many clients send large messages at the same time, while the health of
// the server is checked. Nothing else may run at the same time.
func TestFullMessages(t *testing.T) {
	r := start(t, serve.Options{Rate: -1})
	r.post(callWho) // what is allocated once
	for name, body := range fullMessages() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var all sync.WaitGroup
		for range sample(10, 40) {
			all.Go(func() {
				switch a := r.post(body); a.status {
				case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable:
				default:
					t.Errorf("%s: %d %.200s", name, a.status, a.body)
				}
			})
		}
		r.send(http.MethodGet, "/healthz", "").want(t, name+": health", http.StatusOK)
		all.Wait()
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d MiB were allocated", name, allocated>>20)
		if allocated > uint64(sample(75, 300))<<20 {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}

// TestMemory has a principal send more than its memory allows: only what fits is accepted, and
// other principals are not affected.
func TestMemory(t *testing.T) {
	t.Parallel()
	r := start(t, serve.WithLimits(serve.Options{Auth: authorized(t), Stateless: true}, serve.Limits{Memory: 1 << 20}))
	ada, bob := []string{"Authorization", "Bearer " + adaToken}, []string{"Authorization", "Bearer " + bobToken}
	message := func(tool string, size int) string {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"x":%q}}}`
		return fmt.Sprintf(call, tool, strings.Repeat("x", size))
	}
	done := make(chan answer)
	go func() { done <- r.post(message("wait", 300_000), ada...) }() // alone it may
	<-r.started
	const full = "not enough memory for the message: your open requests may take 1 MiB; " +
		"try again when one of them has ended"
	for range 2 {
		a := r.post(message("echo", 1000), ada...)
		if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, full) {
			t.Errorf("one more: %d %s", a.status, a.body)
		}
	}
	r.post(message("who", 1000), bob...).want(t, "another", http.StatusOK)
	close(r.release)
	if a := <-done; a.status != http.StatusOK {
		t.Errorf("the large one: %d %s", a.status, a.body)
	}
	r.post(message("echo", 100_000), ada...).want(t, "afterwards", http.StatusOK)
}
