package policy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
)

// Request is a call that needs approval. Its strings are safe to display, except for those of
// Call: invisible characters are escaped as in JSON. Line and Source are claims of the worker
// process that runs the program.
type Request struct {
	Tool        string // the tool's path: mail.send
	Origin      string // the tool's own name and server: "send/now" of "mail"; the same as Tool if there is no server
	Class       tools.Class
	Destructive bool   // the effect cannot be undone
	Args        string // complete, as indented JSON
	Line        int    // the line of the call in the program, from 1; 0 if unknown
	Source      string // that line's text; "" if unknown

	// Call is the call itself. Its strings come from a program. Do not show them to a
	// person.
	Call tools.Call
}

// String returns the whole request on several lines.
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

// Decision is the answer to a [Request]. The zero Decision refuses the call.
type Decision struct {
	Approved bool
	Reason   string          // for the model, if refused: why, and what to do instead
	Args     json.RawMessage // if not nil, replaces the arguments; it is validated
}

// Approver decides whether a call is made. It may be called for several calls at the same
// time, so an Approver that uses a terminal needs a lock. It may block until ctx is done. Meanwhile the
// program's clocks stand still, as with [tools.Pause]. If the Approver panics or returns an error, the call is
// refused, and the model does not see the error. A [tools.Fatal] error ends the run.
type Approver func(ctx context.Context, r Request) (Decision, error)

// Approve asks for approval of every call before it is made. Use [If] to select the calls:
//
//	policy.If(policy.Destructive(), policy.Approve(ask))
//
// With a [Retry] outside of Approve, each try needs approval. With a Retry inside, one approval covers all tries.
func Approve(ask Approver) tools.Policy {
	if ask == nil {
		return broken("Approve needs an Approver")
	}
	return guard(all, func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		resume := tools.Pause(ctx)
		d, err := decision(ctx, ask, c)
		if resume(); err != nil {
			return nil, err
		}
		if d.Args != nil {
			c.Args = d.Args
		}
		return next.Call(ctx, c)
	})
}

// decision calls the approver. If the call must not be made, it returns an error.
func decision(ctx context.Context, ask Approver, c tools.Call) (d Decision, err error) {
	if ctx.Err() != nil {
		return d, errUndecided(ctx)
	}
	defer func() {
		if p := recover(); p != nil {
			err = errApproverFailed(fmt.Errorf("policy: the approval of %s panicked: %v\n%s",
				c.Tool.Path(), p, debug.Stack()))
		}
	}()
	d, err = ask(ctx, request(c))
	switch {
	case tools.IsFatal(err):
		return d, err
	case ctx.Err() != nil:
		return d, errUndecided(ctx)
	case err != nil:
		return d, errApproverFailed(err)
	case !d.Approved:
		return d, refusal("not approved: %s", cmp.Or(d.Reason, "do without this call"))
	}
	return d, nil
}

func errUndecided(ctx context.Context) error {
	return refusal("the run ended before the call was approved").WithCause(context.Cause(ctx))
}

func errApproverFailed(err error) error {
	return refusal("not approved: the approver failed; do without this call").WithCause(err)
}

func request(c tools.Call) Request {
	b := c.Tool
	r := Request{
		Tool: shown(b.Path()), Class: b.Hints.Class, Destructive: b.Hints.Destructive,
		Line: c.Line, Source: shown(strings.TrimSpace(sourceLine(c))), Call: c,
	}
	r.Origin = r.Tool
	if b.Namespace != "" {
		r.Origin = shown(fmt.Sprintf("%q of %q", b.Name, b.Namespace))
	}
	var indented bytes.Buffer
	if json.Indent(&indented, c.Args, "", "  ") != nil {
		indented = *bytes.NewBuffer(c.Args) // c is not from a Dispatcher, which validates the arguments
	}
	r.Args = display.Escape(indented.String(), func(r rune) bool { return r != '\n' && invisible(r) })
	return r
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// sourceLine returns the line of the program that makes the call, or "" if it is unknown.
func sourceLine(c tools.Call) string {
	lines := strings.Split(lineEnds.Replace(c.Program), "\n") // where JavaScript ends lines
	if c.Line < 1 || c.Line > len(lines) {
		return ""
	}
	return lines[c.Line-1]
}
