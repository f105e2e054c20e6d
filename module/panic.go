package module

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError says that code which a run was given has panicked: a module, an
// adapter, a reward, a sandbox, a type of the signature, or an observer of events.
type PanicError struct {
	In    string // what was under way, such as "Run of CodeAct"
	Value any    // of the panic
	Stack []byte // of the goroutine that panicked
}

// newPanic is to be called where the panic was recovered.
func newPanic(in string, value any) *PanicError { return &PanicError{in, value, debug.Stack()} }

// Error says what panicked, and begins with what it said. The stack is not in it.
func (e *PanicError) Error() string {
	return e.In + " panicked: " + shorten(fmt.Sprint(e.Value), 500)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// rescue, when deferred, makes an error of a panic.
func rescue(in string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("module: %w", newPanic(in, p))
	}
}

// sound returns an error that can be read. One that panics, such as a nil pointer
// to a type of errors, would do so where nobody expects it.
func sound(from string, err error) (readable error) {
	if err == nil {
		return nil
	}
	defer rescue(fmt.Sprintf("the %T that %s returned", err, from), &readable)
	_ = err.Error()
	_ = errors.Is(err, errNoReturn) // by all that it wraps
	return err
}

// rescueRun is rescue of what a module does before it has a run.
func rescueRun(module string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("module: %w", newPanic("Run of "+module, p))
	}
}

// rescue, when deferred, makes an error of a panic, with the account of what was
// done until then.
func (r *run) rescue(err *error) {
	if p := recover(); p != nil {
		*err = r.incomplete(newPanic("Run of "+r.origin.Module, p))
	}
}

// errNoContext is what a nil context leads to.
var errNoContext = errors.New("module: the context is nil; pass context.Background(), if there is no other")

// errNoReturn is what becomes of a run that does not return at all.
var errNoReturn = errors.New("module: the run ended its goroutine, by runtime.Goexit, instead of returning")
