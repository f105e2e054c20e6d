package sandbox

import (
	"encoding/json"
	"errors"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/vm"
)

// Tamper changes the log of a session and drops its VM.
func Tamper(s *Session) error {
	if len(s.log) == 0 {
		return errors.New("the session is empty")
	}
	s.log[0].Value = json.RawMessage("2")
	s.box.runner.(*inProcess).engine = new(vm.Engine)
	return nil
}

// SetLog replaces the log of a session.
func SetLog(s *Session, log ...engine.Step) { s.log = log }

// Log returns the log of a session.
func Log(s *Session) []engine.Step { return s.log }
