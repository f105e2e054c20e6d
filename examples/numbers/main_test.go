package main

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), llmtest.New(script), &out); err != nil {
		t.Fatal(err)
	}
	_, answer, _ := strings.Cut(out.String(), "\ntotal ")
	// January to December: the values on both sides of the middle are 307 and 341.
	if want := "4025 kWh, median 324 kWh, outlier 2025-07\n"; answer != want {
		t.Errorf("got %s\nwant the end to be: total %s", out.String(), want)
	}
}
