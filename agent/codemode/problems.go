package codemode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/sandbox"
)

// problem is an error that the caller can fix, with a message for the model. All other errors are errors of
// the server: they are only logged, because they may contain confidential details.
type problem struct{ kind, message string }

func (p *problem) Error() string { return p.message }

// The kinds of problems, which are values of error_type in results.
const (
	invalidArgument = "INVALID_ARGUMENT"
	notFound        = "NOT_FOUND"
	overLimit       = "LIMIT"
	installFailed   = "INSTALL_FAILED"
	busy            = "BUSY" // nothing was done
	sessionLost     = "SESSION_LOST"
	errorServer     = "SERVER_ERROR" // not caused by the call
)

func invalid(format string, args ...any) error {
	return &problem{invalidArgument, fmt.Sprintf(format, args...)}
}

var errServer = errors.New("internal server error; the arguments are not the cause, and the server's log has " +
	"the details")

func missing(err error) bool { return errors.Is(err, workspace.ErrNotFound) }

// forModel converts errors that a model can fix into problems, and returns other errors unchanged.
func forModel(err error) error {
	var kind string
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case missing(err):
		kind = notFound
	case errors.Is(err, workspace.ErrLimit):
		kind = overLimit
	case errors.Is(err, sandbox.ErrInput), errors.Is(err, workspace.ErrName), errors.Is(err, workspace.ErrExists):
		kind = invalidArgument
	case errors.Is(err, sandbox.ErrSessionLost), errors.Is(err, sandbox.ErrSessionFull):
		kind = sessionLost
	default:
		return problemOf(err)
	}
	_, message, ok := strings.Cut(err.Error(), ": ") // without the package's name
	if !ok {
		message = err.Error()
	}
	return &problem{kind, message}
}

// problemOf is like forModel, for errors from other packages whose messages are written for models.
func problemOf(err error) error {
	var (
		spec  *packages.SpecError
		limit *packages.LimitError
		run   *packages.Error
	)
	switch {
	case errors.As(err, &spec):
		return &problem{invalidArgument, err.Error()}
	case errors.As(err, &limit):
		return &problem{overLimit, err.Error()}
	case errors.As(err, &run):
		return &problem{installFailed, err.Error()}
	case errors.Is(err, queue.ErrBusy):
		return &problem{busy, err.Error()}
	case errors.Is(err, queue.ErrStopped):
		return &problem{errorServer, "the server is shutting down; nothing was done"}
	}
	return err
}
