package serve

import (
	"context"
	"time"
)

// lastMoment is the time that canceled calls have to send their responses after the grace period.
const lastMoment = 2 * time.Second

// shutdown waits until the running calls have finished or ctx is done. It then cancels the calls that still run, and
// returns their number. Until the calls end, the server rejects new calls but accepts answers to running calls'
// questions. Afterwards, it only accepts requests for its health.
func (s *web) shutdown(ctx context.Context) (canceled int) {
	defer s.end()
	s.calls.stop()
	if s.ended(ctx) {
		return 0
	}
	ctx = context.WithoutCancel(ctx)
	if canceled = s.calls.count(); canceled > 0 {
		s.middleware.end()
		last, cancel := context.WithTimeout(ctx, lastMoment)
		defer cancel()
		if s.ended(last) {
			return canceled
		}
	}
	s.abandon(ctx)
	return canceled
}

// report logs that the shutdown has finished. It returns an error if calls were canceled.
func (s *web) report(canceled int) error {
	s.Logger.Info("shut down", "canceled", canceled)
	if canceled > 0 {
		return errCanceled
	}
	return nil
}

// ended reports whether all calls, and then all requests and sessions, ended before ctx.
func (s *web) ended(ctx context.Context) bool {
	if !closedBefore(ctx, s.calls.none) {
		return false
	}
	s.endStreams()
	s.requests.stop()
	return closedBefore(ctx, s.requests.none) && s.sessions.close(ctx)
}

func closedBefore(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return isClosed(done)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// abandon ends the remaining requests and sessions. A handler that ignores its context keeps running.
func (s *web) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()
	s.requests.stop()
	s.end()
	if s.sessions.close(ctx) {
		closedBefore(ctx, s.requests.none)
	}
}
