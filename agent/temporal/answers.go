package temporal

import (
	"context"
	"encoding/json"

	"github.com/writ-go/writ/agent"
)

// short returns an answer that fits into the history: its large parts are stored.
func (a *Agent) short(ctx context.Context, answer Answer) (Answer, error) {
	d := &answer.Decision
	large := d.Args
	if d.Outcome != nil {
		large = d.Outcome.Result
	}
	if !json.Valid(large) { // Decision.Check says why
		return answer, nil
	}
	v, err := keep(ctx, a.options.Objects, large, 4<<10)
	if err != nil || v.Key == "" {
		return answer, err
	}
	if answer.Object = v.Key; d.Outcome == nil {
		d.Args = nil
		return answer, nil
	}
	outcome := *d.Outcome
	outcome.Result, d.Outcome = nil, &outcome
	return answer, nil
}

// whole returns the decision of an answer that may be short.
func (a *Agent) whole(ctx context.Context, answer Answer) (agent.Decision, error) {
	d := answer.Decision
	if answer.Object == "" {
		return d, nil
	}
	text, err := load(ctx, a.options.Objects, value{Key: answer.Object})
	if d.Outcome == nil {
		d.Args = text
		return d, err
	}
	outcome := *d.Outcome
	outcome.Result, d.Outcome = text, &outcome
	return d, err
}
