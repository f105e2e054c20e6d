package worker

import "github.com/writ-go/writ/sandbox/internal/engine"

// Hello is what the host says first.
type Hello struct {
	Token  string `json:"token"`  // the one that is also in the environment
	Memory int64  `json:"memory"` // bytes on top of what the worker needs empty
}

// Ready is the worker's answer, before it has read a byte of any program: what it
// has found itself unable to do.
type Ready struct {
	Isolation Isolation `json:"isolation"`
}

// Reply is an engine.Reply and the call that it answers.
type Reply struct {
	ID int `json:"id"`
	engine.Reply
}
