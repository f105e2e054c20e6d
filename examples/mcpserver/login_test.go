//go:build integration

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/testserver"
)

// TestLogin has a server that is protected by an authorization server from npm, and another one that uses its tools.
// The user logs in with -login, and the tokens, which expire soon, are refreshed.
func TestLogin(t *testing.T) {
	t.Parallel()
	issuer := startProvider(t)
	address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
	protected := exec.Command(os.Args[0], "mcpserver", "-transport", "http", "-addr", address, "-oauth", issuer)
	waitFor(t, protected, "stderr", "serving")

	home := t.TempDir()
	far := map[string]any{"url": "http://" + address + "/mcp"}
	config, err := testserver.WriteConfig(home, map[string]any{"far": far})
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], append([]string{"mcpserver", "-config", config}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home,
			"DBUS_SESSION_BUS_ADDRESS=unix:path=/none") // no keyring
		return cmd
	}
	needed := "run mcpserver -config " + config + " -login far"
	if text := check(t, command("-check")); !strings.Contains(text, needed) {
		t.Errorf("before the login:\n%s", text)
	}

	login := command("-login", "far")
	stderr, err := login.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	for lines := bufio.NewScanner(io.TeeReader(stderr, &seen)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), issuer) {
			agree(t, lines.Text())
		}
	}
	if err := login.Wait(); err != nil || !strings.Contains(seen.String(), "logged in to far\n") {
		t.Fatalf("-login: %v\n%s", err, seen.String())
	}
	files, err := filepath.Glob(filepath.Join(home, "writ", "logins", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %v, %v", files, err)
	}
	before := read(t, files[0])
	if !bytes.Contains(before, []byte("refresh_token")) {
		t.Errorf("there is no refresh token in %d bytes", len(before))
	}

	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command(patient...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code",
		Arguments: map[string]any{"code": `(await far.execute_code({code: "6 * 7"})).result`}})
	if err != nil || result.IsError || !strings.Contains(fmt.Sprint(result.StructuredContent), "42") {
		t.Errorf("a program over both servers: %v %+v", err, result)
	}
	session.Close()
	if after := read(t, files[0]); bytes.Equal(before, after) {
		t.Error("the tokens were not refreshed")
	}

	if text := check(t, command("-logout", "far")); text != "logged out of far\n" {
		t.Errorf("-logout:\n%s", text)
	}
	if err := os.WriteFile(files[0], before, 0o600); err != nil { // as a thief would have it
		t.Fatal(err)
	}
	if text := check(t, command("-check")); !strings.Contains(text, needed) {
		t.Errorf("after the logout:\n%s", text)
	}
}

func startProvider(t *testing.T) (issuer string) {
	t.Helper()
	dir := modules(t, "WRIT_NPM_DIR", ".ci/npm")
	port := fmt.Sprint(30_000 + rand.IntN(2_000))
	const lifetime = "10" // seconds; clients refresh tokens ten seconds before they expire
	waitFor(t, exec.Command("node", "testdata/provider.mjs", dir, port, lifetime), "stdout", "listening")
	return "http://127.0.0.1:" + port
}

// waitFor starts a process that ends with the test, and waits for a line with a text.
func waitFor(t *testing.T, cmd *exec.Cmd, stream, text string) {
	t.Helper()
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = t.Output(), io.MultiWriter(t.Output(), writer)
	if stream == "stdout" {
		cmd.Stdout, cmd.Stderr = writer, t.Output()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			go func() { _, _ = io.Copy(io.Discard, reader) }()
			return
		}
	}
	t.Fatalf("%v ended", cmd.Args)
}

// check runs a command and returns its output.
func check(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, _ := cmd.CombinedOutput()
	if bytes.Contains(out, []byte("eyJ")) {
		t.Errorf("a token is printed:\n%s", out)
	}
	return string(out)
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	formPrompt = regexp.MustCompile(`name="prompt" value="(\w+)"`)
)

// agree stands for a user with a browser who logs in and agrees.
func agree(t *testing.T, address string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	resp, err := browser.Get(address)
	for range 5 {
		if err != nil {
			t.Error(err)
			return
		}
		page, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		action, prompt := formAction.FindSubmatch(page), formPrompt.FindSubmatch(page)
		if action == nil || prompt == nil {
			if !strings.HasPrefix(string(page), "You can close this page.") {
				t.Errorf("the browser shows %s at %s:\n%s", resp.Status, resp.Request.URL, page)
			}
			return
		}
		resp, err = browser.PostForm(string(action[1]),
			url.Values{"prompt": {string(prompt[1])}, "login": {"ada"}, "password": {"x"}})
	}
	t.Error("the authorization server keeps asking")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
