package origin

import (
	"fmt"
	"net/http"
	"testing"
)

func TestSecretsHide(t *testing.T) {
	t.Parallel()
	var s Secrets
	for i := range 2 * maxSecrets {
		s.AddHeaders(http.Header{"X": {fmt.Sprintf("Bearer value-%04d", i), "short"}})
	}
	if len(s.values) != maxSecrets {
		t.Errorf("%d values are kept", len(s.values))
	}
	got, want := s.Hide("éVALUE-0511value-0510 bearer value-0509, value-0000 short"),
		"é[hidden][hidden] [hidden], value-0000 short"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (*Secrets)(nil).Hide("x"); got != "x" {
		t.Errorf("got %s", got)
	}
}
