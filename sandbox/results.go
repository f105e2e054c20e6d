package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/writ-go/writ/tools"
)

// results bounds what the tools of one run return. It stands closest to the handlers,
// so that no policy and no record holds what is too large.
type results struct {
	each, all int // bytes

	mu   sync.Mutex
	used int // of all
}

// policy is a [tools.Policy].
func (r *results) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if te, ok := errors.AsType[*tools.ToolError](err); ok && !tools.IsFatal(err) {
			return nil, r.failure(te)
		}
		if excess := r.take(len(result)); err == nil && excess != "" {
			return nil, &tools.ToolError{Kind: tools.KindTooLarge, Message: "the call was made, but its result " + excess}
		}
		return result, err
	})
}

// failure shortens an error that is too large.
func (r *results) failure(te *tools.ToolError) error {
	excess := r.take(len(te.Message) + len(te.Data))
	if excess == "" {
		return te
	}
	short := *te
	short.Message, short.Data = "the call failed, and its error "+excess, nil
	if tools.StateOf(te) == tools.StateOK {
		short.Message = "the call was made, but its error " + excess
	}
	return &short
}

// take counts bytes, or says why there are too many.
func (r *results) take(size int) (excess string) {
	if size > r.each {
		return fmt.Sprintf("has %d bytes; %d are allowed; ask for less at a time", size, r.each)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+size > r.all {
		return fmt.Sprintf("has %d bytes, and all results of the program together may have %d, of which %d are left; "+
			"ask for less, or go on in another program", size, r.all, r.all-r.used)
	}
	r.used += size
	return ""
}
