package workspace

import (
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// warmed is a session in memory. The size and the end of its record show whether it is current.
type warmed struct {
	box     *sandbox.Sandbox
	session *sandbox.Session
	size    int64
	end     ending
	used    time.Time
}

// warm keeps the sessions that ran most recently.
type warm struct {
	mu   sync.Mutex
	kept map[string]warmed
}

// maxWarm is the maximum number of sessions that a process keeps in memory.
const maxWarm = 64

// take removes a session from memory and returns it. A caller that runs the session holds its lock.
func (w *warm) take(name string) (warmed, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.kept[name]
	delete(w.kept, name)
	return s, ok
}

// put keeps a session in memory. If there are too many sessions, it drops the least recently used session.
func (w *warm) put(name string, s warmed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept == nil {
		w.kept = map[string]warmed{}
	}
	s.used = time.Now()
	w.kept[name] = s
	if len(w.kept) <= maxWarm {
		return
	}
	oldest := name
	for other, o := range w.kept {
		if o.used.Before(w.kept[oldest].used) {
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
