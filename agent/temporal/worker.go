package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// Worker runs the agent's workflows and activities in this process until ctx is done, and then stops. The options apply
// to the worker for [Agent.TaskQueue]. Another worker receives the activities of the runs that this process has in
// memory.
func (a *Agent) Worker(ctx context.Context, c client.Client, o worker.Options) error {
	shared := worker.New(c, a.TaskQueue(), o)
	a.Register(shared)
	o.DisableWorkflowWorker = true
	own := worker.New(c, a.own, o)
	a.registerRuns(own)
	defer a.Close()
	for _, w := range []worker.Worker{own, shared} {
		if err := w.Start(); err != nil {
			return fmt.Errorf("temporal: the worker of %s cannot start: %w", a.name, err)
		}
		defer w.Stop()
	}
	<-ctx.Done()
	return nil
}

// Start starts a run as a workflow with this ID. [Agent.Result] returns its answer. If the server has a workflow with
// this ID, also one that has ended, Start returns that one: a repeated Start does nothing again.
func (a *Agent) Start(ctx context.Context, c client.Client, id string, input any) (client.WorkflowRun, error) {
	return a.start(ctx, c, id, input, nil)
}

// start starts a run whose predictors have a state, unless it is nil.
func (a *Agent) start(
	ctx context.Context, c client.Client, id string, input any, predictors []byte,
) (client.WorkflowRun, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("temporal: the input of %s: %w", id, err)
	}
	v, err := keep(ctx, a.options.Objects, text, maxInline)
	if err != nil {
		return nil, err
	}
	s := state{Input: v}
	if predictors != nil { // stored, because each Advance and each request gets them
		stored, err := keep(ctx, a.options.Objects, predictors, 0)
		if err != nil {
			return nil, err
		}
		s.Module = &stored
	}
	o := client.StartWorkflowOptions{ID: id, TaskQueue: a.TaskQueue(),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE}
	return c.ExecuteWorkflow(ctx, o, a.name, s)
}

// Result waits for a run's answer, and decodes it into out. If the module has no answer, the error wraps
// [module.ErrNoAnswer].
func (a *Agent) Result(ctx context.Context, r client.WorkflowRun, out any) error {
	end, err := a.result(ctx, r)
	if err != nil {
		return err
	}
	return a.decode(ctx, end.Output, out)
}

// result waits until a run has ended.
func (a *Agent) result(ctx context.Context, r client.WorkflowRun) (end ending, err error) {
	err = r.Get(ctx, &end)
	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		if e.HasDetails() {
			err = errors.Join(err, e.Details(&end.Trajectory))
		}
		if e.Type() == noAnswer {
			err = fmt.Errorf("%w: %w", module.ErrNoAnswer, err)
		}
	}
	return end, err
}

// decode decodes a value into v.
func (a *Agent) decode(ctx context.Context, from value, v any) error {
	text, err := load(ctx, a.options.Objects, from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Waiting returns the calls of a run that wait for decisions.
func (a *Agent) Waiting(ctx context.Context, c client.Client, id string) ([]agent.Waiting, error) {
	answer, err := c.QueryWorkflow(ctx, id, "", waitingName)
	if err != nil {
		return nil, err
	}
	var short []waitingCall
	if err := answer.Get(&short); err != nil {
		return nil, err
	}
	list := make([]agent.Waiting, len(short))
	for i, w := range short {
		if err := a.decode(ctx, w.Whole, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Decide answers a call of a run that waits. An invalid answer, or one to a call that does not wait, is an error, and
// changes nothing. The update is the ID of the answer: the same one again does nothing. Decide needs a worker that
// runs. If no worker is running, signal the workflow with the name "decide" and an [Answer]; an invalid one is ignored
// then.
func (a *Agent) Decide(ctx context.Context, c client.Client, id, update string, answer Answer) error {
	answer, err := a.short(ctx, answer)
	if err != nil {
		return err
	}
	h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: id, UpdateID: update,
		UpdateName: decideName, Args: []any{answer}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err != nil {
		return err
	}
	return h.Get(ctx, nil)
}
