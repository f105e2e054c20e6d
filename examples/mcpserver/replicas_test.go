//go:build integration

package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replicas are three servers that share one storage folder, behind a plain round
// robin: no two requests that follow each other reach the same one.
func replicas(t *testing.T, args ...string) (url string, asked *[3]atomic.Int64) {
	t.Helper()
	asked = &[3]atomic.Int64{}
	var behind []*httputil.ReverseProxy
	args = append([]string{"-transport", "http", "-stateless", "-storage", t.TempDir()}, args...)
	for range asked {
		proxy := httputil.NewSingleHostReverseProxy(origin(t, launch(t, args...).url))
		proxy.ErrorLog = log.New(t.Output(), "", 0) // a client that leaves ends its streams
		behind = append(behind, proxy)
	}
	var turn atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := int(turn.Add(1)) % len(behind)
		asked[i].Add(1)
		behind[i].ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/mcp", asked
}

func origin(t *testing.T, endpoint string) *url.URL {
	t.Helper()
	u, err := url.Parse(strings.TrimSuffix(endpoint, "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Files and sessions are on every replica, for their owner only.
func TestReplicas(t *testing.T) {
	t.Parallel()
	tokens, file := writeTokens(t, 2)
	url, asked := replicas(t, "-tokens", file)
	for _, version := range []string{newEra, oldEra} {
		session, other := dialed(t.Context(), t, url, tokens[0], version), dialed(t.Context(), t, url, tokens[1], version)
		path := buildsFile(t, session)
		ran := must[execution](t, session, "execute_code_file", map[string]any{"file_path": path})
		if !ran.Success || string(ran.Result) != "45" {
			t.Errorf("%s: the file gives %+v", version, ran)
		}
		handle := must[execution](t, session, "execute_code",
			map[string]any{"code": "let n = 1; n", "session": "new"}).Session
		for want := 2; want < 9; want++ {
			e := must[execution](t, session, "execute_code", map[string]any{"code": "n += 1; n", "session": handle})
			if string(e.Result) != fmt.Sprint(want) {
				t.Errorf("%s: the session gives %+v, want %d", version, e, want)
			}
		}
		for range asked { // whichever replica is asked
			nothingOf(t, other, "read_code_file", map[string]any{"file_path": path})
			nothingOf(t, other, "execute_code", map[string]any{"code": "n", "session": handle})
		}
		session.Close()
		other.Close()
	}
	for i := range asked {
		if asked[i].Load() < 10 {
			t.Errorf("replica %d was asked %d times", i, asked[i].Load())
		}
	}
}

// buildsFile builds a program in ten parts.
func buildsFile(t *testing.T, session *mcp.ClientSession) (path string) {
	t.Helper()
	path = must[codeFile](t, session, "initialize_code_file", map[string]any{"content": "let sum = 0;\n"}).FilePath
	for i := range 10 {
		must[codeFile](t, session, "append_to_code_file",
			map[string]any{"file_path": path, "content": fmt.Sprintf("sum += %d;\n", i)})
	}
	must[codeFile](t, session, "append_to_code_file", map[string]any{"file_path": path, "content": "sum"})
	if text := readAll(t, session, path); !strings.HasSuffix(text, "sum += 9;\nsum") {
		t.Errorf("the file holds %q", text)
	}
	return path
}

func must[T any](t *testing.T, session *mcp.ClientSession, tool string, args any) T {
	t.Helper()
	got, err := answered[T](t.Context(), session, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return got
}

// nothingOf checks that a handle is not found, in the words for one that never was.
func nothingOf(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := fmt.Sprintf("%+v", result.StructuredContent)
	for _, c := range result.Content {
		text += c.(*mcp.TextContent).Text
	}
	if !result.IsError || !strings.Contains(text, "not found") {
		t.Errorf("%s of somebody else's handle: %s", tool, text)
	}
}
