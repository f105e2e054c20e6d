package worker

import "github.com/writ-go/writ/sandbox/internal/engine"

// Hello is the first message, from the host.
type Hello struct {
	Token  string `json:"token"`  // repeats the token in the worker's environment
	Memory int64  `json:"memory"` // bytes in addition to what the worker needs without a program
}

// Ready is the worker's reply to [Hello]. It is sent before the worker has read a program.
type Ready struct {
	Isolation Isolation `json:"isolation"`
}

// Reply is an [engine.Reply] and the ID of the call that it answers.
type Reply struct {
	ID int `json:"id"`
	engine.Reply
}
