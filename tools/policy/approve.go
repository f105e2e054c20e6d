package policy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/writ-go/writ/tools"
)

// Request is a call that waits for somebody's consent. Its texts are safe to be
// shown: see [Display]. Tool and Args are what will be done; Line and Source are
// what the program's worker says of where it comes from.
type Request struct {
	Tool        string // as programs call it: mail.send
	Origin      string // whose it is and what it is called there: "send/now" of "mail"; for the host's own, Tool
	Class       tools.Class
	Destructive bool   // what it does cannot be undone
	Args        string // as indented JSON, complete
	Line        int    // where the program calls; from 1, 0 if unknown
	Source      string // the text of that line; "" if unknown

	// Call is the call itself. Its texts come from a program and must not be
	// shown as they are.
	Call tools.Call
}

// String is the whole request, on several lines.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s", r.Tool, r.Class)
	if r.Destructive {
		b.WriteString(", destructive")
	}
	b.WriteString(")")
	if r.Origin != r.Tool {
		b.WriteString(", which is " + r.Origin)
	}
	b.WriteString("\n" + r.Args)
	if r.Line > 0 {
		fmt.Fprintf(&b, "\nline %d: %s", r.Line, r.Source)
	}
	return b.String()
}

// Decision is the answer to a [Request]. The zero Decision refuses.
type Decision struct {
	Approved bool
	Reason   string          // of a refusal, for the model: why, and what to do instead
	Args     json.RawMessage // what to call the tool with instead; nil leaves the arguments. They are validated
}

// Approver decides on a call. It may take its time, as long as ctx is not done: the
// sandbox's Limits.Time and Limits.Wait go on meanwhile. An error refuses the
// call without telling the model why, but a [tools.Fatal] one ends the run. So
// does a panic: it refuses.
type Approver func(ctx context.Context, r Request) (Decision, error)

// ApproveOptions configures [Approve]. Nil is the defaults.
type ApproveOptions struct {
	// Parallel is how many requests may wait for a decision at the same time,
	// over all runs; the others queue. Zero is one.
	Parallel int

	// Skip, if set, says for which tools nobody needs to be asked, such as those
	// that a configuration file approves, if its author is to be believed.
	Skip func(*tools.Binding) bool
}

// Approve has every call approved before it is made; usually it stands in When:
//
//	policy.If(policy.Destructive(), policy.Approve(ask, nil))
//
// A retry outside of it asks again, one inside does not.
func Approve(ask Approver, o *ApproveOptions) tools.Policy {
	if ask == nil {
		return broken("Approve needs somebody to ask")
	}
	o = cmp.Or(o, &ApproveOptions{})
	turns := make(chan struct{}, max(o.Parallel, 1))
	return guard(all, func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if o.Skip != nil && o.Skip(c.Tool) {
			return next.Call(ctx, c)
		}
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			return nil, undecidedYet(ctx)
		}
		d, err := decision(ctx, ask, c, turns)
		if err != nil {
			return nil, err
		}
		if d.Args != nil {
			c.Args = d.Args
		}
		return next.Call(ctx, c)
	})
}

// decision asks, and gives the turn back. Its error is why the call is not made.
func decision(ctx context.Context, ask Approver, c tools.Call, turns <-chan struct{}) (d Decision, err error) {
	defer func() { <-turns }()
	if ctx.Err() != nil {
		return d, undecidedYet(ctx)
	}
	defer func() {
		if p := recover(); p != nil {
			err = unasked(fmt.Errorf("policy: the approval of %s panicked: %v\n%s", c.Tool.Path(), p, debug.Stack()))
		}
	}()
	d, err = ask(ctx, request(c))
	switch {
	case tools.IsFatal(err):
		return d, err
	case ctx.Err() != nil:
		return d, undecidedYet(ctx)
	case err != nil:
		return d, unasked(err)
	case !d.Approved:
		return d, refusal("not approved: %s", cmp.Or(d.Reason, "do without this call"))
	}
	return d, nil
}

func undecidedYet(ctx context.Context) error {
	return refusal("the run ended before the call was approved").WithCause(context.Cause(ctx))
}

func unasked(err error) error {
	return refusal("not approved: nobody could be asked; do without this call").WithCause(err)
}

func request(c tools.Call) Request {
	b := c.Tool
	r := Request{
		Tool: Display(b.Path()), Class: b.Hints.Class, Destructive: b.Hints.Destructive,
		Line: c.Line, Source: Display(strings.TrimSpace(c.SourceLine())), Call: c,
	}
	r.Origin = r.Tool
	if b.Namespace != "" {
		r.Origin = Display(fmt.Sprintf("%q of %q", b.Name, b.Namespace))
	}
	var indented bytes.Buffer
	if json.Indent(&indented, c.Args, "", "  ") != nil {
		indented = *bytes.NewBuffer(c.Args) // not from a Dispatcher, which validates
	}
	r.Args = visible(indented.String(), "\n")
	return r
}
