package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// toolbox is a set of tools, with tools.search and tools.describe, for a model that calls
// them by name.
type toolbox struct {
	set       *tools.Set
	bindings  []*tools.Binding
	discovery *discovery.Discovery
}

func newToolbox(set *tools.Set) *toolbox {
	d := discovery.New(set, prompt.MaxText).SearchedBy(discovery.Object + ".search")
	set = d.Extended()
	return &toolbox{set: set, bindings: set.Bindings(), discovery: d}
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

// note returns what the model is told in addition to the result of a call: if a search
// found nothing, which servers exist.
func (t *toolbox) note(c sandbox.Call) string {
	if c.Error != nil {
		return ""
	}
	if note := t.discovery.Note(c.Tool, c.Args, c.Result); note != "" {
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
