package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the responses to testdata")

// conversation is a sequence of requests to a new handler. It calls the runs RUN1, RUN2, …, in the order in which
// responses name them.
type conversation struct {
	h     *handler
	names []string // pairs of a run's name and its ID
}

// TestRequests sends the requests in the archives in testdata, and compares the responses. After each request, it waits
// until all runs rest.
func TestRequests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &conversation{h: newHandler(t, nil)}
			var files []txtar.File
			for i, f := range archive.Files {
				if f.Name != "request" {
					continue
				}
				got := c.exchange(t, f.Data)
				files = append(files, f, txtar.File{Name: "response", Data: got})
				if !*update && (i+1 == len(archive.Files) || !bytes.Equal(archive.Files[i+1].Data, got)) {
					t.Fatalf("the response to\n%s\nis\n%s\nrun the test with -update to accept it", f.Data, got)
				}
			}
			if archive.Files = files; *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var (
	times = regexp.MustCompile(`"20\d\d-[^"]*"`)
	ids   = regexp.MustCompile(`r-[a-z0-9]{16,}`)
)

// exchange sends a request and returns the response, both as text.
func (c *conversation) exchange(t *testing.T, request []byte) []byte {
	t.Helper()
	text := string(request)
	for i := 0; i < len(c.names); i += 2 {
		text = strings.ReplaceAll(text, c.names[i], c.names[i+1])
	}
	head, body, _ := strings.Cut(text, "\n\n")
	line, headers, _ := strings.Cut(strings.TrimSpace(head), "\n")
	raw := strings.Replace(line, " ", " /api", 1) + " HTTP/1.1\nHost: example.com\n" +
		fmt.Sprintf("Content-Length: %d\n", len(body)) + headers + "\n\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(raw, "\n", "\r\n") + body)))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	w := httptest.NewRecorder()
	http.StripPrefix("/api", c.h).ServeHTTP(w, r)
	out := &bytes.Buffer{}
	fmt.Fprintf(out, "%d %s\n", w.Code, http.StatusText(w.Code))
	for _, name := range []string{"Content-Type", "Location", "Retry-After"} {
		if value := w.Header().Get(name); value != "" {
			fmt.Fprintf(out, "%s: %s\n", name, value)
		}
	}
	if w.Body.Len() > 0 {
		var v any // whose members are sorted
		err := json.Unmarshal(w.Body.Bytes(), &v)
		text, bad := json.MarshalIndent(v, "", "  ")
		if err = errors.Join(err, bad); err != nil {
			t.Errorf("%s: %v in the response %s", line, err, w.Body)
		}
		fmt.Fprintf(out, "\n%s", text)
	}
	if h := w.Header(); h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: the headers are %v", line, h)
	}
	c.rest(t)
	return append(bytes.TrimSpace([]byte(c.rename(out.String()))), '\n')
}

// rename replaces what differs between runs of the test.
func (c *conversation) rename(text string) string {
	for _, id := range ids.FindAllString(text, -1) {
		if name := fmt.Sprintf("RUN%d", len(c.names)/2+1); !strings.Contains(strings.Join(c.names, " "), id) {
			c.names = append(c.names, name, id)
		}
	}
	for i := 0; i < len(c.names); i += 2 {
		text = strings.ReplaceAll(text, c.names[i+1], c.names[i])
	}
	return times.ReplaceAllString(text, `"TIME"`)
}

// rest waits until all runs rest.
func (c *conversation) rest(t *testing.T) {
	t.Helper()
	list, err := c.h.runner.List(t.Context())
	for _, run := range list {
		if err == nil {
			_, err = c.h.runner.Wait(t.Context(), run.ID)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
