package sqljournal

import (
	"strings"
	"testing"
	"time"
)

// What could not be read again is not written.
func TestLargeRun(t *testing.T) {
	t.Parallel()
	l := &log{last: row{size: maxLog - 2}, until: time.Now().Add(time.Hour)}
	if err := l.Append([]byte("ab")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := l.Append([]byte("c")); err == nil || !strings.Contains(err.Error(), "more than 1 GiB") {
			t.Errorf("got %v", err)
		}
	}
}
