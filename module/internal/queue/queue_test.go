package queue_test

import (
	"testing"

	"github.com/writ-go/writ/module/internal/queue"
)

// TestQueue checks that all elements come in order, even those that are read after the queue was closed.
func TestQueue(t *testing.T) {
	t.Parallel()
	const all = 1000
	q := queue.New[int]()
	go func() {
		for i := range all {
			q.Add(i)
		}
		q.Close()
	}()
	for want := range all {
		if got, ok := q.Next(); !ok || got != want {
			t.Fatalf("got %d, %t, want %d", got, ok, want)
		}
	}
	if got, ok := q.Next(); ok {
		t.Errorf("got %d from an empty queue", got)
	}
}
