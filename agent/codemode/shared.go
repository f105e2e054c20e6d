package codemode

import (
	"sync"

	"github.com/writ-go/writ/tools/mcptools"
)

// shared is a group of servers that closes when it has been retired and has no more users.
type shared struct {
	*mcptools.Servers
	mu      sync.Mutex
	users   int
	retired bool
}

// use adds n users, or removes them if n is negative.
func (s *shared) use(n int) {
	s.mu.Lock()
	s.users += n
	unused := s.retired && s.users == 0
	s.mu.Unlock()
	if unused {
		s.Close()
	}
}

func (s *shared) retire() {
	s.use(1)
	s.mu.Lock()
	s.retired = true
	s.mu.Unlock()
	s.use(-1)
}
