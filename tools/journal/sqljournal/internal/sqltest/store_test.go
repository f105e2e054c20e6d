package sqltest

import (
	"testing"

	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
)

func TestStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		storetest.Run(t, func(t *testing.T) journal.Store { return d.fresh(t).store(t, 0) })
	})
}
