package vm

import (
	"container/list"
	"sync"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Bounds of what a library keeps, in bytes of source. A compiled program takes
// some forty times as much, a hostile one two hundred times, and a short one even
// more.
const (
	keptSource  = 64 << 10
	keptProgram = 8 << 10
	leastSource = 512
)

// library keeps the programs that were compiled last: attempts are repeated,
// and agents write the same thing for the same task. The zero library is empty.
type library struct {
	mu    sync.Mutex
	known map[edition]*list.Element
	order list.List // of *volume, the one used last in front
	bytes int
}

// edition is what a parse depends on.
type edition struct {
	name    string // in stack traces
	text    string
	words   bool // whether every name is listed
	session bool // whether declarations are exported
}

type volume struct {
	edition
	program *program
}

// parse returns the program of a source, from the library if it has it.
func (l *library) parse(e edition) (*program, *engine.Failure) {
	if p := l.find(e); p != nil {
		return p, nil
	}
	return parse(e)
}

// keep takes a program in that was compiled.
func (l *library) keep(e edition, p *program) {
	if len(e.text) <= keptProgram {
		l.add(&volume{e, p})
	}
}

func (l *library) find(e edition) *program {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.known[e]
	if !ok {
		return nil
	}
	l.order.MoveToFront(found)
	return found.Value.(*volume).program
}

func (l *library) add(v *volume) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[edition]*list.Element{}
	}
	if l.known[v.edition] != nil { // by another run, meanwhile
		return
	}
	l.known[v.edition] = l.order.PushFront(v)
	l.bytes += v.size()
	for l.bytes > keptSource {
		oldest := l.order.Remove(l.order.Back()).(*volume)
		delete(l.known, oldest.edition)
		l.bytes -= oldest.size()
	}
}

func (v *volume) size() int { return max(len(v.text), leastSource) }
