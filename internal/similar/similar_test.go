package similar_test

import (
	"testing"

	"github.com/writ-go/writ/internal/similar"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"limit", "customer_id", "status"}
	for name, want := range map[string]string{
		"limmit": "limit", "customerId": "customer_id", "custommer_id": "customer_id", "statsu": "status",
		"offset": "", "": "", "s": "",
	} {
		if got := similar.Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
