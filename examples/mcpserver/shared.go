package main

import (
	"sync"

	"github.com/writ-go/writ/tools/mcptools"
)

// shared is a group of servers that closes when its last user has gone.
type shared struct {
	*mcptools.Servers
	mu      sync.Mutex
	users   int
	retired bool
}

func (s *shared) use(n int) {
	s.mu.Lock()
	s.users += n
	over := s.retired && s.users == 0
	s.mu.Unlock()
	if over {
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
