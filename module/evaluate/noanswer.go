package evaluate

import (
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// isNoAnswer reports whether a run that ended with err shows that the module has no answer, and not that something
// outside the module failed. If err is about several attempts and something failed in one of them, it is a failure.
func isNoAnswer(err error) bool {
	failed := func(err error) bool {
		switch err := err.(type) {
		case *models.Error:
			return !refuses(err)
		case *models.PanicError, *journal.UnknownError:
			return true
		}
		return false
	}
	unanswered := func(err error) bool {
		model, ok := err.(*models.Error)
		return ok && refuses(model) ||
			slices.Contains([]error{errSlowRun, module.ErrNoAnswer, module.ErrMaxIters, module.ErrBudget}, err)
	}
	return !tools.IsFatal(err) && !wraps(err, failed) && wraps(err, unanswered)
}

// refuses reports whether the model gives no reply to this prompt, whenever it is asked.
func refuses(err *models.Error) bool {
	return err.Kind == models.KindRefused || err.Kind == models.KindContextTooLong
}

// wraps reports whether f reports true for err or for an error that it wraps.
func wraps(err error, f func(error) bool) bool {
	if err != nil && f(err) {
		return true
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return wraps(err.Unwrap(), f)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(err.Unwrap(), func(err error) bool { return wraps(err, f) })
	}
	return false
}
