//go:build integration

package login

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/mcptools"
)

// TestOfficialExample logs in to the example server of the official TypeScript SDK, at its example authorization
// server. It agrees without a user, and has neither refresh tokens nor iss.
func TestOfficialExample(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	port := 20_000 + 2*rand.IntN(5_000) // outside the range that the system assigns
	cmd := exec.Command("node", filepath.Join(modules,
		"@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js"), "--oauth", "--oauth-strict")
	cmd.Env = append(os.Environ(), fmt.Sprint("MCP_PORT=", port), fmt.Sprint("MCP_AUTH_PORT=", port+1))
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for _, p := range []int{port, port + 1} {
		for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(50 * time.Millisecond) {
			if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", p)); err == nil {
				conn.Close()
				break
			}
		}
	}
	c := &mcptools.Config{Servers: []mcptools.ServerConfig{{
		Name: "example", URL: fmt.Sprintf("http://localhost:%d/mcp", port),
	}}}
	l := logins(t)
	tools := func() string {
		servers, err := mcptools.Start(t.Context(), c, &mcptools.Options{OAuth: l.Handler})
		if err != nil {
			return err.Error()
		}
		defer servers.Close()
		list, err := servers.Tools(t.Context())
		return fmt.Sprintf("%t, %v", len(list) > 3, err)
	}
	const needed = "run tool -login example"
	if got := tools(); !strings.HasSuffix(got, needed) {
		t.Errorf("before the login: %s", got)
	}
	if err := l.Login(t.Context(), c, "example"); err != nil {
		t.Fatal(err)
	}
	if got := tools(); got != "true, <nil>" {
		t.Errorf("after the login: %s", got)
	}
	if revoked, err := l.Logout(t.Context(), c, "example"); err != nil || revoked {
		t.Errorf("logout: %t, %v; it has no revocation", revoked, err)
	}
	if got := tools(); !strings.HasSuffix(got, needed) {
		t.Errorf("after the logout: %s", got)
	}
}
