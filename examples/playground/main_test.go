package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun opens the page at the URL that the program prints.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-ask", "-journal", filepath.Join(t.TempDir(), "runs")}, w)
		_ = w.Close()
	}()
	printed := ""
	for buffer := make([]byte, 1000); !strings.HasSuffix(printed, "/\n"); {
		n, err := r.Read(buffer)
		if err != nil {
			t.Fatalf("%v after %q", err, printed)
		}
		printed += string(buffer[:n])
	}
	lines := strings.Fields(printed)
	response, err := http.Get(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if html, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(html), "The model is scripted") {
		t.Errorf("got %s (%v)", html, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-config x.json": "use -config with -model", "-model acme:x": `provider "acme"`, "-addr 0.0.0.0:0": "loopback",
		"task": "no arguments", "-config none.json -model script:x": "none.json",
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
	if err := run(t.Context(), []string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: got %v", err)
	}
}
