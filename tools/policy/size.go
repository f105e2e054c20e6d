package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/tools"
)

// MaxArgs refuses calls whose arguments have more than n bytes of JSON.
func MaxArgs(n int) tools.Policy {
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if len(c.Args) > n {
			return nil, refusal("the arguments have %d bytes; %d are allowed; send less at a time", len(c.Args), n)
		}
		return next.Call(ctx, c)
	})
}

// MaxResult withholds results of more than n bytes of JSON: the program gets an
// error of kind [tools.KindTooLarge], which says how large it was. Of an
// error that is larger, nothing but the kind and the size is told. Nothing is
// cut, for what is left of a secret could not be recognised.
func MaxResult(n int) tools.Policy {
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if err != nil {
			return nil, shortened(err, n)
		}
		if len(result) > n {
			return nil, &tools.ToolError{Kind: tools.KindTooLarge, Message: fmt.Sprintf(
				"the call was made, but its result has %d bytes; %d are allowed; if it can be asked for less at a time, do so", len(result), n)}
		}
		return result, nil
	})
}

func shortened(err error, n int) error {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tools.IsFatal(err) {
		return err // a dispatcher words what tools return
	}
	size := len(te.Message) + len(te.Data)
	if size <= n {
		return err
	}
	c := *te
	c.Message, c.Data = fmt.Sprintf("the call failed, and what was said of it has %d bytes; %d are allowed", size, n), nil
	return c.WithCause(err)
}
