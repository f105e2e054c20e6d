package evaluate

import (
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// isNoAnswer reports whether a run that ended with err shows that the module has no answer, and not that something
// outside the module failed. If err is about several attempts and something failed in one of them, it is a failure.
func isNoAnswer(err error) bool {
	unanswered, failed := false, tools.IsFatal(err)
	visit(err, func(err error) {
		switch e := err.(type) {
		case *budget.Error: // of a budget that began within the run: that of ctx ends the evaluation
			unanswered = true
		case *models.Error: // if refused, the model gives no reply to this prompt, whenever it is asked
			refused := e.Kind == models.KindRefused || e.Kind == models.KindContextTooLong
			unanswered, failed = unanswered || refused, failed || !refused && e.Kind != models.KindOverBudget
		case *models.PanicError, *journal.UnknownError:
			failed = true
		default:
			own := []error{errTimeout, module.ErrNoAnswer, module.ErrMaxIters}
			unanswered = unanswered || slices.Contains(own, err)
		}
	})
	return unanswered && !failed
}

// visit calls f with err and with all errors that it wraps.
func visit(err error, f func(error)) {
	f(err)
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		visit(err.Unwrap(), f)
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			visit(err, f)
		}
	}
}
