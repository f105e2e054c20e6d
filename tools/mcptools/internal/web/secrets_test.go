package web

import (
	"fmt"
	"net/http"
	"testing"
)

func TestSecretsHide(t *testing.T) {
	t.Parallel()
	var s Secrets
	for i := range 2 * maxSecrets {
		s.addHeaders(http.Header{"X": {fmt.Sprintf("Bearer value-%04d", i), "short"}})
	}
	equal(t, "kept", fmt.Sprint(len(s.values)), fmt.Sprint(maxSecrets))
	equal(t, "text", s.Hide("éVALUE-0511value-0510 bearer value-0509, value-0000 short"),
		"é[hidden][hidden] [hidden], value-0000 short")
	equal(t, "none", (*Secrets)(nil).Hide("x"), "x")
}
