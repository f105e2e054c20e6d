// Package enginetest has a fake [engine.Host] for tests.
package enginetest

import (
	"sync/atomic"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Host is a host for tests. The zero Host allows every program and replies to each call with its arguments.
type Host struct {
	engine.PassiveHost

	Refuse   bool                                  // no program may run
	OnReport func(engine.Report)                   // if set, receives the reports
	OnJudge  func()                                // if set, is called before the host accepts or rejects a program
	OnCall   func(engine.Call, func(engine.Reply)) // if set, performs the calls

	Called atomic.Int32 // calls received
}

// Report implements [engine.Host].
func (h *Host) Report(r engine.Report) {
	if h.OnReport != nil {
		h.OnReport(r)
	}
}

// Allowed implements [engine.Host].
func (h *Host) Allowed() bool {
	if h.OnJudge != nil {
		h.OnJudge()
	}
	return !h.Refuse
}

// Call implements [engine.Host].
func (h *Host) Call(c engine.Call, reply func(engine.Reply)) {
	h.Called.Add(1)
	if h.OnCall != nil {
		h.OnCall(c, reply)
		return
	}
	go reply(engine.Reply{Value: c.Args})
}
