package module

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/signature"
)

// extract asks for an answer from what is known, in a step more than there are:
// a reply with the outputs of sig, in the form of the predictor's adapter. The
// error is why the model could not be asked, or [ErrMaxIters] and what is wrong
// with the reply.
func extract[In, Out any](ctx context.Context, r *run, sig *signature.Signature[In, Out]) (out Out, raw json.RawMessage, err error) {
	spec, adapter := sig.Spec(), r.predictor.adapter()
	r.last().Observation += "\n\n" + lastQuestion + adapter.System(outputsOf(spec), "") + "\n" + adapter.Question(spec, nil)
	err = r.ask(ctx)
	last := r.last()
	if last.Extracted = true; err != nil {
		return out, nil, err
	}
	values, err := adapter.Read(spec, last.Reply, last.Truncated)
	if err == nil {
		raw, err = values.MarshalJSON()
		last.answer = raw
	}
	if err == nil {
		out, err = sig.Decode(raw)
	}
	if err != nil {
		return out, nil, fmt.Errorf("%w, and there is no answer from what is known: %w", ErrMaxIters, err)
	}
	return out, raw, nil
}

const lastQuestion = `No step is left. Give the answer now, as good as it can be from what is known. Nothing is run any more: this reply is the answer itself, in another form than before.

`

// outputsOf is a question for the same outputs, of which all else has been said.
func outputsOf(spec *signature.Spec) *signature.Spec {
	if alone, err := signature.NewSpec("", nil, spec.Outputs()); err == nil {
		return alone
	}
	return spec
}
