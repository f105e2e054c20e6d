package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
)

// TestToolServer asks for effects again.
func TestToolServer(t *testing.T) {
	t.Parallel()
	for _, honors := range []bool{true, false} {
		c := config{Dir: t.TempDir(), Honors: honors}
		log, err := os.Create(c.log())
		must(t, err)
		defer log.Close()
		s := httptest.NewServer(&toolServer{config: c, log: log, made: map[string]bool{}})
		defer s.Close()
		for _, id := range []string{"r-1:E1", "r-1:E2", "r-1:E1"} {
			must(t, post(t.Context(), s.URL+"/ship", id, "worker 1", order{Order: "c-1/" + id}))
		}
		all, err := rows(c.log())
		must(t, err)
		effects, repeated, again := count(all)
		want := map[bool]string{true: "2 0 1", false: "2 1 0"}[honors]
		if got := fmt.Sprint(effects, repeated, again); got != want || all[0].Tool != "ship" || all[0].Worker != "worker 1" {
			t.Errorf("honors=%v: got %s, %v", honors, got, all)
		}
	}
}
