package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// toolbox is the tools that a model calls by name.
type toolbox struct {
	set       *tools.Set
	bindings  []*tools.Binding // those of the set, then the discovery tools
	discovery *discovery.Discovery
	own       *tools.Dispatcher // of the discovery tools
}

func newToolbox(set *tools.Set) *toolbox {
	t := &toolbox{
		set: set, bindings: set.Bindings(),
		discovery: discovery.New(set, maxText).SearchedBy(discovery.Object + ".search"),
	}
	if set.Len() > 0 {
		var own []*tools.Binding
		own, t.own = t.discovery.Tools()
		t.bindings = append(t.bindings, own...)
	}
	return t
}

// find returns the index of a tool among the bindings. The error names similar tools.
func (t *toolbox) find(name string) (int, error) {
	own := func(b *tools.Binding) bool { return b.Object == discovery.Object && b.Path() == name }
	if i := slices.IndexFunc(t.bindings, own); i >= 0 {
		return i, nil
	}
	if b := t.discovery.Tool(name); b != nil {
		return slices.Index(t.bindings, b), nil
	}
	if t.set.Len() == 0 {
		return 0, fmt.Errorf("there is no tool %q; submit is the only one", shorten(name, 100))
	}
	return 0, t.discovery.Unknown("tool", name)
}

// issue issues a call. Only calls of the set's tools are recorded.
func (t *toolbox) issue(c tools.Call, tool int, l tools.Attempt) tools.IssuedCall {
	if own := tool - t.set.Len(); own >= 0 {
		return t.own.Issue(c, own)
	}
	return t.set.Dispatcher(l).Issue(c, tool)
}

// note tells the model which servers there are if a search found no tool.
func (t *toolbox) note(c sandbox.Call, tool int) string {
	if own := tool - t.set.Len(); own < 0 || c.Error != nil {
		return ""
	}
	if note := t.discovery.Note(tools.Call{Args: c.Args}, c.Result); note != "" {
		return "\n" + note
	}
	return ""
}

// abandonAfter is how long a call may go on after its context is done.
const abandonAfter = 200 * time.Millisecond

var (
	errAbandoned = errors.New("the call did not end when it was cancelled")
	errGoexit    = errors.New("the handler ended its goroutine instead of returning")
)

// settle performs a call, and abandons it if it does not end after ctx is done.
func settle(ctx context.Context, perform func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	var result json.RawMessage
	err := tools.Fatal(errGoexit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err = perform(ctx)
	}()
	select {
	case <-ended:
		return result, err
	case <-ctx.Done():
	}
	select {
	case <-ended:
		return result, err
	case <-time.After(abandonAfter):
		return nil, errAbandoned
	}
}
