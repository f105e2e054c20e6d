package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), llmtest.New(script...), &out); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("\nweb-17 has %d errors: disk full\n", strings.Count(generate(), "ERROR host=web-17 "))
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s\nwant the end to be %s", out.String(), want)
	}
	if len(out.String()) > 3000 {
		t.Errorf("the model was shown %d bytes", out.Len())
	}
}
