package workspace

import (
	"sync"

	"github.com/writ-go/writ/sandbox"
)

// warmed is a session in memory, with its record.
type warmed struct {
	box     *sandbox.Sandbox
	session *sandbox.Session
	size    int64
	end     ending
	used    int64 // the clock at its last use
}

// warm keeps the sessions that ran most recently.
type warm struct {
	mu    sync.Mutex
	limit int
	clock int64
	kept  map[string]warmed
}

// take removes a session from memory and returns it. A caller that uses the
// session holds its lock.
func (w *warm) take(name string) (warmed, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.kept[name]
	delete(w.kept, name)
	return s, ok
}

// put keeps a session, and drops the one that was used least recently if there are
// too many.
func (w *warm) put(name string, s warmed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept == nil {
		w.kept = map[string]warmed{}
	}
	w.clock++
	s.used = w.clock
	w.kept[name] = s
	if len(w.kept) <= w.limit {
		return
	}
	oldest := name
	for other, o := range w.kept {
		if o.used < w.kept[oldest].used {
			oldest = other
		}
	}
	delete(w.kept, oldest)
}

func (w *warm) drop(name string) { w.take(name) }

func (w *warm) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = nil
}
