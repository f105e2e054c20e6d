//go:build integration

package mcptools

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// everythingAt starts the npm server "everything" with one of its transports
// over HTTP, and returns its address.
func everythingAt(t *testing.T, transport string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(filepath.Join(os.Getenv("WRIT_NPM_DIR"), ".bin", "mcp-server-everything"), transport)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nothing listens at %s", address)
	return ""
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
			[3]string{"get-structured-content", `{"location":"Chicago"}`, `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
		)
	}
}
