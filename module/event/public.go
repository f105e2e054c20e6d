package event

import (
	"context"
	"errors"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Public returns what a service may show its clients about an event: a copy without prompts and contents. It keeps
//
//   - the time, the run, the step, and the names of modules, predictors, models and tools;
//   - usage, durations, finish reasons, and the scores of attempts;
//   - of a call, its number, its position, whether it is recorded or pending, and the kind of its error;
//   - of a program, whether it submitted an answer, its calls, and the kinds of its failure and its warnings;
//   - of an Err, whether it is a pause, or a canceled or timed-out context or, if a model caused it, its kind.
//
// It removes everything that inputs, models, programs, tools or providers wrote: messages, replies, reasoning, code,
// arguments, results, outputs, console output, feedback, schemas, call options, provider IDs, and the texts of errors.
// The text of a [TextDelta] is removed, too; a service that streams answers must decide which fields to show. Fields
// that are added to events later are removed unless Public is changed to keep them. Names and finish reasons are those
// that the host and the provider chose: if they are confidential, don't send them.
//
// Pass the result to [JSON]. Public of an unknown event, a pointer or nil is nil.
func Public(e Event) Event {
	switch e := e.(type) {
	case RunStart:
		return e
	case ModelRequest:
		return ModelRequest{Origin: e.Origin, Predictor: e.Predictor, Model: e.Model, Rollout: e.Rollout,
			Extract: e.Extract}
	case TextDelta:
		return TextDelta{Origin: e.Origin, Field: e.Field, Thinking: e.Thinking}
	case ModelResponse:
		return ModelResponse{Origin: e.Origin, Model: e.Model, FinishReason: e.FinishReason, Truncated: e.Truncated,
			Usage: e.Usage, Duration: e.Duration, Err: publicError(e.Err)}
	case ReplyRejected:
		return ReplyRejected{Origin: e.Origin}
	case ProgramStart:
		return ProgramStart{Origin: e.Origin, Compiled: e.Compiled}
	case ToolCallStart:
		return ToolCallStart{Origin: e.Origin, Call: publicCall(e.Call)}
	case ToolCallEnd:
		return ToolCallEnd{Origin: e.Origin, Call: publicCall(e.Call)}
	case ProgramEnd:
		return ProgramEnd{Origin: e.Origin, Outcome: publicOutcome(e.Outcome)}
	case Scored:
		return Scored{Origin: e.Origin, Value: e.Value}
	case RunEnd:
		return RunEnd{Origin: e.Origin, Err: publicError(e.Err)}
	}
	return nil
}

func publicCall(c sandbox.Call) sandbox.Call {
	public := sandbox.Call{ID: c.ID, Tool: c.Tool, Recorded: c.Recorded, Pending: c.Pending, Started: c.Started,
		Duration: c.Duration, Line: c.Line, Column: c.Column}
	if c.Error != nil {
		if c.Error.Kind == tools.KindUnknownTool { // the program made the name up
			public.Tool = ""
		}
		public.Error = &tools.ToolError{Tool: public.Tool, Kind: publicKind(c.Error.Kind)}
	}
	return public
}

// publicKind returns a kind that package tools defines, since a tool's handler may return any other word.
func publicKind(kind string) string {
	switch kind {
	case tools.KindUnknownTool, tools.KindInvalidArguments, tools.KindDenied, tools.KindLimit, tools.KindUnavailable,
		tools.KindTimeout, tools.KindCancelled, tools.KindUnknown, tools.KindInvalidResult, tools.KindTooLarge:
		return kind
	}
	return tools.KindFailed
}

func publicOutcome(o *sandbox.Outcome) *sandbox.Outcome {
	if o == nil {
		return nil
	}
	public := &sandbox.Outcome{Submitted: o.Submitted, Abandoned: o.Abandoned, Warnings: publicFindings(o.Warnings),
		Duration: o.Duration, Computing: o.Computing, Waiting: o.Waiting}
	for _, c := range o.Calls {
		public.Calls = append(public.Calls, publicCall(c))
	}
	if f := o.Failure; f != nil {
		public.Failure = &sandbox.Failure{Finding: publicFinding(f.Finding), Findings: publicFindings(f.Findings)}
	}
	return public
}

func publicFindings(all []sandbox.Finding) (public []sandbox.Finding) {
	for _, f := range all {
		public = append(public, publicFinding(f))
	}
	return public
}

func publicFinding(f sandbox.Finding) sandbox.Finding {
	return sandbox.Finding{Kind: f.Kind, Line: f.Line, Column: f.Column}
}

// publicError returns an error with the kind of err, but without its text.
func publicError(err error) error {
	var failed *lm.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, place.ErrPaused):
		return errors.New("paused")
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &failed) && failed != nil && failed.Kind != lm.KindUnknown:
		return errors.New("the model failed: " + failed.Kind.String())
	}
	return errors.New("failed")
}
