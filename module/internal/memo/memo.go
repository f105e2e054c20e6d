// Package memo keeps computed values, so that they are not computed again.
package memo

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
)

// Answers keeps the answers to questions. The zero value is empty.
type Answers struct {
	mu      sync.Mutex
	answers map[digest]func() (string, error) // each function waits for its answer
}

// digest identifies a question.
type digest [sha256.Size]byte

// Once returns the answer to a question. The first caller calls ask, and concurrent callers wait for the same answer.
// Errors are not kept.
func (a *Answers) Once(question any, ask func() (string, error)) (string, error) {
	text, err := json.Marshal(question)
	if err != nil {
		return "", err
	}
	key := digest(sha256.Sum256(fmt.Appendf(nil, "%T %s", question, text)))
	a.mu.Lock()
	wait, asked := a.answers[key]
	if !asked {
		wait = sync.OnceValues(ask)
		if a.answers == nil {
			a.answers = map[digest]func() (string, error){}
		}
		a.answers[key] = wait
	}
	a.mu.Unlock()
	answered := false
	defer func() {
		if !asked && !answered { // also if ask panics
			a.mu.Lock()
			delete(a.answers, key)
			a.mu.Unlock()
		}
	}()
	answer, err := wait()
	answered = err == nil
	return answer, err
}

// Last keeps the last value that was computed from a key.
type Last[K comparable, V any] struct{ last atomic.Pointer[cached[K, V]] }

type cached[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value for a key.
func (c *Last[K, V]) Get(key K, compute func() V) V {
	if made := c.last.Load(); made != nil && equal(made.key, key) {
		return made.value
	}
	made := &cached[K, V]{key, compute()}
	c.last.Store(made)
	return made.value
}

// CopyFrom copies the value that o keeps.
func (c *Last[K, V]) CopyFrom(o *Last[K, V]) { c.last.Store(o.last.Load()) }

// equal reports whether two keys are equal. Keys with values that Go cannot compare, such as some adapters, are never
// equal.
func equal[K comparable](a, b K) (same bool) {
	defer func() { _ = recover() }()
	return a == b
}
