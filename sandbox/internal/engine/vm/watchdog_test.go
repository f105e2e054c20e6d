package vm

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
)

// patient is a host that waits for an hour.
type patient struct{ enginetest.Host }

func (*patient) Begin(func(error))       {}
func (*patient) Patience() time.Duration { return time.Hour }

func (*patient) Stuck(*engine.Failure) {}

// stopped returns a weak pointer to the VM of a program that was stopped and has ended.
func stopped(t *testing.T) weak.Pointer[goja.Runtime] {
	t.Helper()
	vm := goja.New()
	w := newWatchdog(t.Context(), vm, engine.Limits{Time: time.Hour}, &patient{})
	w.stop(engine.ErrMemory)
	w.end()
	return weak.Make(vm)
}

// The VM of a program that was stopped and has ended is released at once: the program may
// have been stopped because it used too much memory.
func TestStoppedIsReleased(t *testing.T) {
	t.Parallel()
	released := stopped(t)
	for range 100 {
		if runtime.GC(); released.Value() == nil {
			return
		}
	}
	t.Error("the VM is still in memory")
}

// announced records what a watchdog tells its host.
type announced struct {
	*patient
	replies chan int
}

func (a announced) Waiting(replies int) { a.replies <- replies }

// A program that waits is announced at most once for each number of replies, also if the timer of
// an earlier wait is late.
func TestWaitingIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	a := announced{replies: make(chan int, 10)}
	w := newWatchdog(t.Context(), goja.New(), engine.Limits{}, a)
	defer w.end()
	w.wait(true, 0)
	w.mu.Lock() // as if the timer's goroutine did not get a processor
	time.Sleep(2 * idleTime)
	w.mu.Unlock()
	w.resume()
	w.wait(true, 1)
	if first := <-a.replies; first == 0 {
		<-a.replies
	}
	w.announce()
	select {
	case again := <-a.replies:
		t.Errorf("announced %d replies twice", again)
	default:
	}
}
