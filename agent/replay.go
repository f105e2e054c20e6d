package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Replay runs the program of a recorded step again, and answers its calls with the recorded results. It needs neither
// the tools nor a model. The step may have been read from a Trajectory's JSON.
//
// The program p has the Inputs and the Compiler of the recorded run. If p.Source is set, it runs instead of the step's
// program: it may be a corrected version. Its Tools and its Attempt are replaced.
//
// A result belongs to the tool and the arguments of its call, and equal calls get their results in the recorded order.
// All results are there at once, so programs that depend on time may take another course. A call without a recorded
// result ends the program, and the error says so. The tools have no schemas, so their arguments are not checked. A step
// whose program was refused before it ran is an error.
func Replay(
	ctx context.Context, box module.Sandbox, s module.Step, p sandbox.Program,
) (*sandbox.Outcome, error) {
	p.Source = cmp.Or(p.Source, s.Code)
	switch {
	case box == nil:
		return nil, errors.New("agent: replay: the sandbox is nil; create one with sandbox.New")
	case p.Source == "" || s.Outcome == nil:
		return nil, errors.New("agent: replay: the step ran no program; choose another step")
	case s.Outcome.Failure != nil && !s.Outcome.Failure.Ran():
		return nil, fmt.Errorf("agent: replay: the program was refused before it ran: %w", s.Outcome.Failure)
	}
	r := &replay{step: s, used: make([]bool, len(s.Outcome.Calls))}
	var undeclared []string
	for {
		clear(r.used)
		set, err := r.tools(p.Source, undeclared)
		if err != nil {
			return nil, err
		}
		p.Tools, p.Attempt, p.Submit = set, nil, true
		out, err := box.Run(ctx, p)
		names := undeclaredIn(out)
		if err != nil || undeclared != nil || names == nil {
			return out, err
		}
		undeclared = names // tools in a part of the program that did not run
	}
}

// undeclaredIn returns the names that a program was refused for because they are not declared, or nil.
func undeclaredIn(out *sandbox.Outcome) (names []string) {
	if out == nil || out.Failure == nil {
		return nil
	}
	for _, f := range out.Failure.Findings {
		if name, ok := strings.CutSuffix(f.Message, " is not defined"); ok && f.Kind == "undeclared" {
			names = append(names, name)
		}
	}
	return names
}

// replay answers calls with the results of a step.
type replay struct {
	step module.Step

	mu   sync.Mutex
	used []bool // for each recorded call, whether its result was given
}

// tools returns the tools that the recorded calls name, and those with undeclared names.
func (r *replay) tools(source string, undeclared []string) (*tools.Set, error) {
	paths := map[string]bool{}
	namespaces := map[string]bool{}
	for _, c := range r.step.Outcome.Calls {
		paths[c.Tool] = true
		if namespace, _, ok := strings.Cut(c.Tool, "."); ok {
			namespaces[namespace] = true
		}
	}
	for _, name := range undeclared {
		if namespaces[name] = true; len(membersOf(name, source)) == 0 {
			paths[name] = true
		}
	}
	var sources []tools.Source
	for namespace := range namespaces {
		for _, member := range membersOf(namespace, source) {
			paths[namespace+"."+member] = true
		}
	}
	var own []*tools.Tool
	for path := range paths {
		t := r.tool(path, source)
		if t.Namespace == globals.Tools {
			own = append(own, t)
			continue
		}
		sources = append(sources, t)
	}
	set, err := tools.NewSet(context.Background(), sources...)
	for _, t := range own {
		if err == nil {
			set, err = set.Plus(t)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("agent: replay: %w", err)
	}
	return set.With(r.policy), nil
}

// membersOf returns the members of an object that a program names.
func membersOf(object, source string) (list []string) {
	pattern := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(object) + `\s*\??\.\s*([A-Za-z_$][\w$]*)`)
	for _, m := range pattern.FindAllStringSubmatch(source, -1) {
		list = append(list, m[1])
	}
	return list
}

// tool returns a tool with a path.
func (r *replay) tool(path, source string) *tools.Tool {
	t := &tools.Tool{Name: path, Hints: tools.Hints{Class: tools.Read}}
	if namespace, name, ok := strings.Cut(path, "."); ok {
		t.Namespace, t.Name = namespace, name
	}
	t.Handler = func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
		return r.answer(sandbox.Call{Tool: path, Args: args})
	}
	switch path {
	case globals.Tools + ".search":
		t.Params = []string{"query", "options"}
	case globals.Tools + ".describe":
		t.Params = []string{"name"}
	default:
		t.InputSchema = r.schema(path, source)
	}
	return t
}

// schema returns a schema for a tool whose argument a program may pass without its name, or nil.
func (r *replay) schema(path, source string) json.RawMessage {
	only := ""
	for _, c := range r.step.Outcome.Calls {
		if c.Tool != path {
			continue
		}
		var args map[string]json.RawMessage
		if json.Unmarshal(c.Args, &args) != nil || len(args) != 1 {
			return nil
		}
		for name, v := range args {
			if only != "" && only != name || v[0] != '"' && v[0] != '[' {
				return nil
			}
			only = name
		}
	}
	if short := regexp.MustCompile(regexp.QuoteMeta(path) + `\(\s*[^\s{)]`); only == "" || !short.MatchString(source) {
		return nil
	}
	name, _ := json.Marshal(only)
	return fmt.Appendf(nil, `{"type": "object", "required": [%s], "properties": {%[1]s: `+
		`{"anyOf": [{"type": "string"}, {"type": "array"}]}}}`, name)
}

// policy answers all calls. It never calls next.
func (r *replay) policy(tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		result, err := r.answer(sandbox.Call{Tool: c.Tool.Path(), Args: c.Args, Line: c.Line, Column: c.Column})
		if err == errPending {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return result, err
	})
}

// errPending is the result of a call that had not ended when its program ended.
var errPending = errors.New("the call had not ended")

// answer returns the recorded result of a call.
func (r *replay) answer(c sandbox.Call) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(c.Tool, func(was sandbox.Call) bool { return canonical.Equal(was.Args, c.Args) })
	if i < 0 { // the recorded arguments have the defaults of the schema, and what policies changed
		i = r.find(c.Tool, func(was sandbox.Call) bool {
			return was.Line == c.Line && was.Column == c.Column && contains(was.Args, c.Args)
		})
	}
	failure := r.step.Outcome.Failure
	switch {
	case i < 0:
		return nil, tools.Fatal(fmt.Errorf("agent: replay: there is no recorded result for %s(%s)",
			c.Tool, display.Cut(string(c.Args), 200)))
	case r.step.Outcome.Calls[i].Pending && failure != nil && failure.Kind == sandbox.KindStopped:
		return nil, tools.Fatal(fmt.Errorf("agent: replay: the run ended before the result of %s(%s)",
			c.Tool, display.Cut(string(c.Args), 200)))
	}
	r.used[i] = true
	was := r.step.Outcome.Calls[i]
	switch {
	case was.Pending:
		return nil, errPending
	case was.Error == nil:
		return was.Result, nil
	case failure != nil && failure.Hold != nil && failure.Hold.Error() == was.Error.Message:
		return nil, failure.Hold
	}
	return nil, &tools.ToolError{Kind: was.Error.Kind, Message: was.Error.Message, Data: was.Error.Data}
}

// find returns the index of the first recorded call of a tool that fits and whose result was not given yet, or -1.
func (r *replay) find(tool string, fits func(was sandbox.Call) bool) int {
	for i, was := range r.step.Outcome.Calls {
		if was.Tool == tool && !r.used[i] && fits(was) {
			return i
		}
	}
	return -1
}

// contains reports whether the arguments all have the members of part. Null counts as missing.
func contains(all, part json.RawMessage) bool {
	var a, p map[string]json.RawMessage
	if json.Unmarshal(all, &a) != nil || json.Unmarshal(part, &p) != nil {
		return false
	}
	for name, v := range p {
		if string(v) != "null" && !canonical.Equal(a[name], v) {
			return false
		}
	}
	return true
}
