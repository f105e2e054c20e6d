package policy

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// Desk has the decisions of people who may decide long after they are asked. It is safe for concurrent use.
type Desk interface {
	// Decide returns the decision about a call. If nobody has decided yet, ok is false, and the Desk has noted the
	// request. Decide must not wait for a person. It is called once whenever a call reaches [Approve]; all requests of
	// a call have the same ID.
	//
	// Approve ignores Decision.Grant: the Desk adds it to [Grants] and asks these about calls without a decision.
	Decide(ctx context.Context, r Request) (d Decision, ok bool)
}

type deskKey struct{}

// WithDesk returns a context in which Approve(nil) asks d. A call without a decision is not made and waits until its
// run ends. A durable run ends as soon as it waits only for decisions; when it is resumed, the call asks again.
func WithDesk(ctx context.Context, d Desk) context.Context {
	return context.WithValue(ctx, deskKey{}, d)
}

// askDesk is an [Approver] that asks the context's Desk. Without a decision, it returns when ctx is done.
func askDesk(ctx context.Context, r Request) (Decision, error) {
	desk, ok := ctx.Value(deskKey{}).(Desk)
	if !ok {
		return Decision{}, tools.Fatal(fmt.Errorf("policy: nobody can approve the call of %s; "+
			"start a durable run, or pass an Approver to Approve", r.Tool))
	}
	if d, ok := desk.Decide(ctx, r); ok {
		return d, nil
	}
	resume, ok := place.Park(ctx)
	if !ok {
		resume = tools.Pause(ctx)
	}
	defer resume()
	<-ctx.Done()
	return Decision{}, ctx.Err()
}
