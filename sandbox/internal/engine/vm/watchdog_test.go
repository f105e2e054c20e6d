package vm

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// patient is a host that waits as long as it takes.
type patient struct{}

func (patient) Begin(func(error))       {}
func (patient) Patience() time.Duration { return time.Hour }
func (patient) Stuck(*engine.Failure)   {}

// stopped is what is left of a program that was stopped and has ended.
func stopped(t *testing.T) weak.Pointer[goja.Runtime] {
	t.Helper()
	vm := goja.New()
	w := newWatchdog(t.Context(), vm, engine.Limits{Time: time.Hour}, patient{})
	w.stop(engine.ErrMemory)
	w.end()
	return weak.Make(vm)
}

// A program that was stopped and has ended is not kept until it would have been
// given up: it may have been stopped because it took too much memory.
func TestStoppedIsReleased(t *testing.T) {
	t.Parallel()
	released := stopped(t)
	for range 100 {
		if runtime.GC(); released.Value() == nil {
			return
		}
	}
	t.Error("it is still in memory")
}
