package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// extract asks for the outputs of sig in one more step, in the form of the predictor's adapter, without further
// actions. The error says why the model could not be asked, or wraps [ErrMaxIters] and says what is wrong with the
// reply.
func extract[In, Out any](
	ctx context.Context, r *run, sig *signature.Signature[In, Out],
) (out Out, raw json.RawMessage, err error) {
	spec := sig.Spec()
	adapter := r.predictor.adapterFor(spec)
	r.spec = spec
	r.conversation.Closing = prompt.LastReply + adapter.System(outputsOf(spec), "")
	if err = r.ask(ctx); err != nil {
		return out, nil, err
	}
	last := r.last()
	values, err := adapter.Read(spec, last.Reply, last.Truncated)
	if err == nil {
		raw, err = values.MarshalJSON()
	}
	if err == nil {
		out, err = sig.Decode(raw)
	}
	if err != nil {
		return out, nil, fmt.Errorf("%w, and no answer could be extracted: %w", ErrMaxIters, err)
	}
	return out, raw, nil
}

// extract asks for an answer without running further programs. A reply that is a program which only calls submit is
// also an answer.
func (c *CodeAct[In, Out]) extract(ctx context.Context, r *codeRun) (out Out, raw json.RawMessage, err error) {
	if out, raw, err = extract(ctx, r.run, c.coder.signature); !errors.Is(err, ErrMaxIters) {
		return out, raw, err
	}
	program, unread := r.program()
	if unread != nil {
		return out, nil, err
	}
	call, parentheses, unread := replies.ReadCall(program.Code)
	if unread != nil || !parentheses || call.Tool != conversation.Submit {
		return out, nil, err
	}
	if out, err = c.coder.signature.Decode(call.Args); err != nil {
		return out, nil, fmt.Errorf("%w, and the extracted answer is not valid: %w", ErrMaxIters, err)
	}
	return out, call.Args, nil
}

// outputsOf returns a spec with the same outputs and nothing else.
func outputsOf(spec *signature.Spec) *signature.Spec {
	if alone, err := signature.NewSpec("", nil, spec.Outputs()); err == nil {
		return alone
	}
	return spec
}
