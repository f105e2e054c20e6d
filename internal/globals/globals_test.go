package globals

import (
	"testing"

	"github.com/writ-go/writ/internal/jsonvalue"
)

func TestReserved(t *testing.T) {
	t.Parallel()
	for name := range reserved {
		if !Reserved(name) || !jsonvalue.IsIdentifier(name) {
			t.Errorf("%s: Reserved is %v, IsIdentifier is %v", name, Reserved(name), jsonvalue.IsIdentifier(name))
		}
	}
	if Reserved("refund") {
		t.Error("refund is reserved")
	}
}
