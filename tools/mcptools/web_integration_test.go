//go:build integration

package mcptools

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// everythingAt starts the npm server "everything" with one of its HTTP transports, and returns
// its address. The server cannot choose a port itself.
func everythingAt(t *testing.T, transport string) string {
	t.Helper()
	for range 20 {
		port := fmt.Sprint(20_000 + rand.IntN(10_000)) // outside the range that the system assigns
		cmd := exec.Command(filepath.Join(os.Getenv("WRIT_NPM_DIR"), ".bin", "mcp-server-everything"), transport)
		cmd.Env = append(os.Environ(), "PORT="+port)
		if address := "127.0.0.1:" + port; !listens(address) && startsAt(t, cmd, address) {
			return address
		}
	}
	t.Fatal("there is no port for the server")
	return ""
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// startsAt starts a server that ends with the test, and reports whether it got its port.
func startsAt(t *testing.T, cmd *exec.Cmd, address string) bool {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; {
		select {
		case <-ended:
			return false
		case <-time.After(50 * time.Millisecond):
			if listens(address) {
				return true
			}
		}
	}
	t.Fatalf("nothing listens at %s", address)
	return false
}

func TestNPMOverHTTP(t *testing.T) {
	t.Parallel()
	for transport, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		s := open(t, ServerConfig{URL: "http://" + everythingAt(t, transport) + path}, nil)
		equal(t, "version", s.Status()[0].ProtocolVersion, "2025-11-25")
		named := list(t, s)
		equal(t, "tools", fmt.Sprint(len(named) > 10), "true")
		steps(t, named,
			[3]string{"echo", `{"message":"007"}`, `"Echo: 007"`},
			[3]string{"get-sum", `{"a":2,"b":3}`, `"The sum of 2 and 3 is 5."`},
			[3]string{"get-structured-content", `{"location":"Chicago"}`,
				`{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
		)
	}
}
