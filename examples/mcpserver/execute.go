package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

const executeInput = `{
  "type": "object",
  "properties": {
    "code": {"type": "string", "description": "The program."},` + programInput + `
  },
  "required": ["code"],
  "additionalProperties": false
}`

// programInput is the input that all tools that run a program have in common.
const programInput = `
    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000, "description": "Seconds it may take; the server's limits still hold, that of computing too."},
    "variables": {"type": "object", "properties": {}, "additionalProperties": true, "description": "Constants of this program, by name; the next one of a session does not have them."},
    "session": {"type": "string", "description": "\"new\" begins a session, whose programs see each other's top-level declarations; its handle is in the result, and is passed with each further program. A program that fails leaves no trace in it, and names may be declared again. Without it a program starts afresh."},
    "language": {"type": "string", "enum": ["javascript", "typescript"], "description": "JavaScript by default; with an environment, TypeScript works without being named."},
    "environment": {"type": "string", "description": "The name of an environment, whose npm packages the program may import; without one it can import nothing. There is always one named default. See install_dependencies, if there is that tool."}`

const aboutPrograms = `Modern JavaScript in strict mode; top-level await works. There are console, setTimeout, ` +
	`sleep(ms) and the language's own objects; there are no files, network or processes. The result is what the ` +
	`program returns, or the value of its last expression. It is checked first: if it is refused, nothing has run. ` +
	`It may take %s, at most %s of it computing.`

const aboutTools = `
The tools below are globals. They take one object and return a promise; a string result is plain text and never parsed; a failure throws ToolError. Run independent calls at the same time with Promise.all.
`

const aboutUnlisted = `
Not connected yet: %s. As soon as they are, programs can call their tools, and tools.search finds them.`

const (
	aboutSearch = `Some tools are not shown in full: search_tools finds them and describe_tool declares one, as tools.search and tools.describe do in a program.
`
	aboutSearchInside = `Some tools are not shown in full: in a program tools.search finds them and tools.describe declares one.
`
)

// describeExecute is what the model is told of programs, and of the tools that they
// may call.
func (c *client) describeExecute(set *tools.Set) string {
	l := c.app.box.Limits()
	text := "Run a JavaScript program in a sandbox and return its result.\n" +
		fmt.Sprintf(aboutPrograms, l.Time, min(l.Compute, l.Time))
	text += c.describeUnlisted()
	if set.Len() == 0 {
		return text
	}
	declarations := declare.Markdown(set, c.app.settings.declarations)
	text += aboutTools
	switch {
	case !strings.Contains(declarations, "declare const tools: "):
	case c.principal.Allows("search_tools") && c.principal.Allows("describe_tool"):
		text += aboutSearch
	default:
		text += aboutSearchInside
	}
	return text + declarations
}

// describeUnlisted names the servers whose tools may come later, for clients that do
// not ask for a description again.
func (c *client) describeUnlisted() string {
	var names []string
	for _, s := range c.unlisted() {
		names = append(names, global(s.Name))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(aboutUnlisted, strings.Join(names, ", "))
}

func (c *client) executeTool(set *tools.Set) tool {
	return offer(mcp.Tool{
		Name:         "execute_code",
		Title:        "Run a program",
		Description:  c.describeExecute(set),
		InputSchema:  json.RawMessage(executeInput),
		OutputSchema: json.RawMessage(executionSchema),
		Annotations:  hints(mcp.ToolAnnotations{}, true, true),
	}, c.run).telling(refused)
}

// program is a program that a client wants to run.
type program struct {
	Code      string                     `json:"code"`
	Variables map[string]json.RawMessage `json:"variables"`
	Timeout   float64                    `json:"timeout"` // seconds
	Session   string                     `json:"session"`
	Language  string                     `json:"language"`

	Environment string `json:"environment"`
}

// run runs one program, when it is the client's turn, with the tools that there are
// then. What is wrong with the program is in the execution, for the model to read.
func (c *client) run(ctx context.Context, r *mcp.CallToolRequest, p program) (e execution, err error) {
	prepared, err := p.prepare()
	if err != nil {
		return execution{}, err
	}
	prepared.OnCall = callProgress(ctx, r)
	err = c.app.queue.Do(ctx, c.principal.Name, func(ctx context.Context) error {
		e, err = c.runNow(ctx, p, prepared)
		return err
	})
	return e, forModel(err)
}

func (c *client) runNow(ctx context.Context, p program, prepared sandbox.Program) (execution, error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return execution{}, err
	}
	defer release()
	prepared.Tools = view.set
	if prepared.Compiler, err = c.compiler(ctx, p); err != nil {
		return execution{}, err
	}
	out, session, err := c.runIn(ctx, p.Session, prepared)
	if out == nil {
		return execution{}, err
	}
	e := newExecution(out)
	e.Session = session
	c.advise(p, &e)
	if err != nil { // somewhere in the middle: what was done is to be known
		c.app.log.Error("a program was stopped", "client", c.principal.Name, "err", err)
		e.fail(errorServer, "it was stopped in the middle, for no fault of the program; look at calls for what was done")
	}
	return e, nil
}

func (p program) prepare() (sandbox.Program, error) {
	if strings.TrimSpace(p.Code) == "" {
		return sandbox.Program{}, invalid("the program is empty; pass JavaScript")
	}
	inputs := make(map[string]any, len(p.Variables))
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) { // the same one is told of every time
		if !tools.Identifier(name) || tools.Reserved(name) {
			return sandbox.Program{}, invalid("variables: %q cannot be the name of a constant", name)
		}
		inputs[name] = p.Variables[name]
	}
	return sandbox.Program{Source: p.Code, Inputs: inputs, Timeout: seconds(p.Timeout)}, nil
}

// runIn runs a program by itself, or in a session, whose handle it returns.
func (c *client) runIn(ctx context.Context, session string, p sandbox.Program) (out *sandbox.Outcome, _ string,
	err error) {
	if session == "" {
		out, err = c.app.box.Run(ctx, p)
		return out, "", err
	}
	began := session == "new"
	if began {
		if session, err = c.space().NewSession(ctx); err != nil {
			return nil, "", err
		}
	}
	out, err = c.space().RunSession(ctx, session, c.app.box, p)
	if began && out == nil { // its handle would be in no result
		err = errors.Join(err, c.space().RemoveSession(context.WithoutCancel(ctx), session))
	}
	return out, session, err
}

func seconds(n float64) time.Duration {
	if n == 0 {
		return 0
	}
	return max(time.Duration(n*float64(time.Second)), time.Nanosecond)
}

// refused is the execution of a program that was not run.
func refused(p *problem) any {
	e := newExecution(&sandbox.Outcome{})
	e.fail(cmp.Or(p.kind, invalidArgument), p.message)
	return e
}
