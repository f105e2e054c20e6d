package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), "", &out); err != nil {
		t.Fatal(err)
	}
	log := generate()
	want := fmt.Sprintf("the log has %d bytes; web-17 has %d errors: disk full\n", len(log),
		strings.Count(log, "ERROR host=web-17 "))
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s\nwant the end to be %s", out.String(), want)
	}
	if len(out.String()) > 3000 {
		t.Errorf("the model was shown %d bytes", out.Len())
	}
}
