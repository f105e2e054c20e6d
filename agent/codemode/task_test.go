package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/module/llmtest"
)

// reply is one of a model that writes one.
func reply(code string) string {
	return "Let me see.\n\n```js\n" + code + "\n```"
}

// runTask calls run_task, which may fail.
func runTask(t *testing.T, session *mcp.ClientSession, args map[string]any) (r report) {
	t.Helper()
	text, failed := ask(t, session, "run_task", args)
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if failed == r.Success {
		t.Errorf("isError is %t and success %t", failed, r.Success)
	}
	return r
}

func TestTask(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	model := llmtest.New(
		reply(`console.log(await fs.list_directory({path: "."}))`),
		`submit({answer: await fs.read_text_file({path: "a.txt"})})`) // without a fence
	told := make(chan string, 100)
	session, _ := begin(t, setup{Options: Options{Config: path, Model: model}, client: &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- r.Params.Message
		},
	}})
	params := &mcp.CallToolParams{Name: "run_task", Arguments: map[string]any{"task": "What is in a.txt?"}}
	params.SetProgressToken("p1")
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, session, "run_task", text)
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if !r.Success || r.Answer != "3" || len(r.Steps) != 2 || r.Usage.Calls != 2 || len(r.Calls) != 2 ||
		r.Calls[1].Tool != "fs.read_text_file" || r.Calls[1].State != "ok" {
		t.Errorf("got %s", text)
	}
	want := []string{
		"step 1: asking the model", "step 1: running a program", "fs.list_directory is done",
		"step 1: the program has ended",
		"step 2: asking the model", "step 2: running a program", "fs.read_text_file is done",
		"step 2: the program has ended",
	}
	var heard []string
	for range want {
		heard = append(heard, <-told)
	}
	if !slices.Equal(heard, want) {
		t.Errorf("progress was\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}

// TestTaskUnfinished has tasks that come to no answer: what was done is told.
func TestTaskUnfinished(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	write := reply(`await fs.write_file({path: "c.txt", content: "1"})`)
	look := reply(`console.log(await fs.list_directory({path: "."}))`)
	for _, test := range []struct {
		name  string
		model *llmtest.Model
		args  map[string]any
		kind  string
		calls int
	}{
		{"steps", llmtest.New(write, look, look), map[string]any{"task": "Write.", "steps": 2}, "STEPS", 2},
		{"tokens", llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: write, InputTokens: 3000, OutputTokens: 2500}, nil
		}), map[string]any{"task": "Write.", "tokens": 5000}, "BUDGET", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			session, _ := begin(t, setup{Options: Options{Config: path, Model: test.model}})
			r := runTask(t, session, test.args)
			if r.ErrorType != test.kind || len(r.Calls) != test.calls || r.Calls[0].Tool != "fs.write_file" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestTaskTimeout has a task whose model takes too long after the first program.
func TestTaskTimeout(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	for timeout := 0.5; ; timeout *= 2 { // on a busy machine the first program may need more
		model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if r.N == 1 {
				return llmtest.Reply{Text: reply(`await fs.write_file({path: "c.txt", content: "1"})`)}, nil
			}
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		})
		session, _ := begin(t, setup{Options: Options{Config: path, Model: model}})
		r := runTask(t, session, map[string]any{"task": "Write.", "timeout": timeout})
		if r.ErrorType != "TIMEOUT" {
			t.Fatalf("got %+v", r)
		}
		if len(r.Calls) == 1 && r.Calls[0].Tool == "fs.write_file" && r.Calls[0].State == "ok" {
			return
		}
	}
}

// TestTaskModelFails has a model that fails at once: no program was written, and what
// its provider said is in the log only.
func TestTaskModelFails(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, errors.New("the socks of the provider are wet")
	})
	session, a := begin(t, setup{Options: Options{Model: model}})
	r := runTask(t, session, map[string]any{"task": "Do it."})
	if r.ErrorType != "MODEL" || r.Error != "the server's model failed (unknown); the server's log says why" ||
		r.Steps == nil || len(r.Steps) > 0 {
		t.Errorf("got %+v", r)
	}
	if !a.written.has("the socks of the provider are wet") {
		t.Errorf("the log does not say why:\n%s", a.written)
	}
}

// TestTaskCancelled cancels a request: its task ends, and the next one is done.
func TestTaskCancelled(t *testing.T) {
	t.Parallel()
	asked, stopped := make(chan bool), make(chan bool)
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > 1 {
			return llmtest.Reply{Text: reply(`submit({answer: "done"})`)}, nil
		}
		close(asked)
		<-ctx.Done()
		close(stopped)
		return llmtest.Reply{}, ctx.Err()
	})
	session, _ := begin(t, setup{Options: Options{Model: model}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if result, err := session.CallTool(ctx,
		&mcp.CallToolParams{Name: "run_task", Arguments: map[string]any{"task": "Wait."}}); err == nil {
		t.Errorf("got %+v", result)
	}
	<-stopped
	if r := get[report](t, session, "run_task", map[string]any{"task": "Go on."}); r.Answer != "done" {
		t.Errorf("got %+v", r)
	}
	if text, failed := ask(t, session, "run_task", map[string]any{"task": " "}); !failed ||
		!strings.Contains(string(text), "INVALID_ARGUMENT") {
		t.Errorf("got %s", text)
	}
}

// TestTaskInEnvironment lets the model's programs import, and tells it what.
func TestTaskInEnvironment(t *testing.T) {
	t.Parallel()
	model := llmtest.New(reply(`import {twice} from "tiny"; const n: number = twice(21); submit({answer: String(n)})`))
	session, a := begin(t, setup{Options: Options{Packages: []string{"tiny"}, Model: model}})
	get[configuration](t, session, "configure_environment", map[string]any{"environment": "lab"})
	furnish(t, a, "lab")
	if r := get[report](t, session, "run_task",
		map[string]any{"task": "Double 21.", "environment": "lab"}); r.Answer != "42" {
		t.Errorf("got %+v", r)
	}
	if asked := model.Requests()[0].Text(); !strings.Contains(asked,
		"These npm packages can be imported, and no others: tiny.") {
		t.Errorf("the model was not told of the package:\n%s", asked)
	}
	if text, failed := ask(t, session, "run_task",
		map[string]any{"task": "Double 21.", "environment": "none"}); !failed ||
		!strings.Contains(string(text), "NOT_FOUND") {
		t.Errorf("got %s", text)
	}
}
