package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/tools"
)

// MaxResult withholds results of more than n bytes of JSON. The program gets an error of
// kind [tools.KindTooLarge] with the size. The message and data of a larger error are
// replaced by its size. MaxResult does not cut a result, because a secret that is cut in two
// would no longer be recognized.
func MaxResult(n int) tools.Policy {
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if err != nil {
			return nil, shortened(err, n)
		}
		if len(result) > n {
			return nil, &tools.ToolError{Kind: tools.KindTooLarge, Message: fmt.Sprintf(
				"the call was made, but its result has %d bytes, and at most %d are allowed; "+
					"request less at a time if the tool can", len(result), n)}
		}
		return result, nil
	})
}

func shortened(err error, n int) error {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tools.IsFatal(err) {
		return err // the dispatcher makes a ToolError of other errors
	}
	size := len(te.Message) + len(te.Data)
	if size <= n {
		return err
	}
	c := *te
	c.Message, c.Data = fmt.Sprintf("the call failed, and its error has %d bytes; at most %d are allowed", size, n), nil
	return c.WithCause(err)
}
