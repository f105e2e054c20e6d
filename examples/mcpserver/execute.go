package main

import (
	"cmp"
	"context"
	"encoding/json"
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
    "code": {"type": "string", "minLength": 1, "description": "The JavaScript program."},
    "variables": {"type": "object", "description": "Constants of the program, by name."},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000, "description": "Seconds it may take; the server's limit still holds."}
  },
  "required": ["code"],
  "additionalProperties": false
}`

const aboutPrograms = `Modern JavaScript in strict mode; top-level await works. There are console, setTimeout, sleep(ms) and the language's own objects; there are no files, network or processes. The result is what the program returns, or the value of its last expression. It is checked first: if it is refused, nothing has run.`

const aboutTools = `
The tools below are globals. They take one object and return a promise; a string result is plain text and never parsed; a failure throws ToolError. Run independent calls at the same time with Promise.all.
`

const aboutSearch = `Some tools are not shown in full: search_tools finds them and describe_tool declares one, as tools.search and tools.describe do in a program.
`

// describeExecute is what the model is told of programs, and of the tools that they
// may call.
func describeExecute(set *tools.Set, budget int) string {
	text := "Run a JavaScript program in a sandbox and return its result.\n" + aboutPrograms
	if set.Len() == 0 {
		return text
	}
	declarations := declare.TypeScript(set, budget)
	text += aboutTools
	if strings.Contains(declarations, "declare const tools: ") {
		text += aboutSearch
	}
	return text + "```ts\n" + declarations + "```\n"
}

type executeArgs struct {
	Code      string                     `json:"code"`
	Variables map[string]json.RawMessage `json:"variables"`
	Timeout   float64                    `json:"timeout"`
}

func (c *client) executeTool(set *tools.Set) tool {
	return offer(mcp.Tool{
		Name:         "execute_code",
		Title:        "Run a program",
		Description:  describeExecute(set, c.app.settings.declarations),
		InputSchema:  json.RawMessage(executeInput),
		OutputSchema: json.RawMessage(executionSchema),
		Annotations:  hints(mcp.ToolAnnotations{}, true, true),
	}, c.executeCode).telling(refused)
}

func (c *client) executeCode(ctx context.Context, _ *mcp.CallToolRequest, in executeArgs) (execution, error) {
	return c.run(ctx, program{code: in.Code, variables: in.Variables, timeout: in.Timeout})
}

// program is what a client wants to be run.
type program struct {
	code      string
	variables map[string]json.RawMessage
	timeout   float64 // seconds
}

// run runs one program with the tools that there are now. What is wrong with the
// program is in the execution, for the model to read.
func (c *client) run(ctx context.Context, p program) (execution, error) {
	if strings.TrimSpace(p.code) == "" {
		return execution{}, invalid("the program is empty; pass JavaScript")
	}
	view, release, err := c.app.catalog.use(c.principal.Tools)
	if err != nil {
		return execution{}, err
	}
	defer release()
	inputs := make(map[string]any, len(p.variables))
	for name, value := range p.variables {
		if !tools.Identifier(name) || tools.Reserved(name) {
			return execution{}, invalid("variables: %q cannot be the name of a constant", name)
		}
		inputs[name] = value
	}
	out, err := c.app.box.Run(ctx, sandbox.Program{
		Source: p.code, Inputs: inputs, Tools: view.set, Timeout: seconds(p.timeout),
	})
	if err != nil && (out == nil || ctx.Err() != nil) {
		return execution{}, err
	}
	e := newExecution(out)
	if err != nil { // somewhere in the middle: what was done is to be known
		c.app.log.Error("execution", "err", err)
		e.fail(errorServer, errServer.Error())
	}
	return e, nil
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
