package policy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// Request is a call that needs approval. Its strings are safe to display, except for those of
// Call: invisible characters are escaped as in JSON. Line and Source are claims of the worker
// process that runs the program.
type Request struct {
	ID          string // the ID of the call's effect, such as r-7f3a:E7; "" if no journal records the call
	Tool        string // the tool's path: mail.send
	Origin      string // the tool's own name and server: "send/now" of "mail"; the same as Tool if there is no server
	Class       tools.Class
	Agents      []string // the tools whose modules run, the calling one last; nil if the outer module calls
	Destructive bool     // the effect cannot be undone
	Args        string   // complete, as indented JSON
	Line        int      // the line of the call in the program, from 1; 0 if unknown
	Source      string   // that line's text; "" if unknown

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
	if r.Agents != nil {
		b.WriteString(", wanted by " + strings.Join(r.Agents, " > "))
	}
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
	Approved bool            `json:"approved"`
	Reason   string          `json:"reason,omitempty"`  // for the model, if refused: why, and what to do instead
	Args     json.RawMessage `json:"args,omitempty"`    // if not nil, replaces the arguments; it is validated
	By       string          `json:"by,omitempty"`      // who decided, for [Audit]
	Grant    *Grant          `json:"grant,omitempty"`   // also approves later calls; see [Grants.Approver] and [Desk]
	Granted  bool            `json:"granted,omitempty"` // a Grant covers the call; see [Grants.Covers]
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
//
// Approve(nil) is for people who may decide after the process has ended. It asks the [Desk] of the run. See [WithDesk].
func Approve(ask Approver) tools.Policy {
	ask = pausing(ask)
	return guard(all, func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		d, err := decision(ctx, ask, c)
		if err != nil {
			return nil, err
		}
		if d.Args != nil {
			c.Args = d.Args
		}
		return next.Call(ctx, c)
	})
}

// pausing returns an Approver that calls ask while the program's clocks stand still. The desk parks the call instead.
func pausing(ask Approver) Approver {
	if ask == nil {
		return askDesk
	}
	return func(ctx context.Context, r Request) (Decision, error) {
		defer tools.Pause(ctx)()
		d, err := ask(ctx, r)
		if err == nil && d.Approved && d.Grant != nil {
			err = tools.Fatal(errors.New("policy: a decision with a Grant needs an Approver from Grants.Approver"))
		}
		return d, err
	}
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
	d, err = ask(ctx, request(ctx, c))
	switch {
	case tools.IsFatal(err):
		return d, err
	case ctx.Err() != nil:
		return d, errUndecided(ctx)
	case err != nil:
		return d, errApproverFailed(err)
	}
	by := d.By
	if d.Granted {
		by = strings.TrimSpace(by + " (grant)")
	}
	dispatch.Deciders(ctx, by)
	if by != "" {
		by = " by " + by
	}
	if !d.Approved {
		dispatch.Decided(ctx, "refused"+by)
		return d, refusal("not approved: %s", cmp.Or(d.Reason, "do without this call"))
	}
	dispatch.Decided(ctx, "approved"+by)
	return d, nil
}

// errUndecided returns the error for a call about which nobody decided before the run ended or was paused.
func errUndecided(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), place.ErrPaused) {
		return tools.Fatal(place.ErrPaused)
	}
	return refusal("the run ended before the call was approved").WithCause(context.Cause(ctx))
}

func errApproverFailed(err error) error {
	return refusal("not approved: the approver failed; do without this call").WithCause(err)
}

func request(ctx context.Context, c tools.Call) Request {
	b := c.Tool
	r := Request{
		ID:   tools.EffectID(ctx),
		Tool: shown(b.Path()), Class: b.Hints.Class, Destructive: b.Hints.Destructive,
		Line: c.Line, Source: shown(strings.TrimSpace(sourceLine(c))), Call: c,
	}
	for _, a := range effect.Agents(ctx) {
		r.Agents = append(r.Agents, shown(a))
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
