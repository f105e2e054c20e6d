package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
	api "go.opentelemetry.io/otel/trace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// secret is part of the task, of programs, arguments, results, errors and answers.
const secret = "5ecret"

type number struct {
	N int `json:"n"`
}

type word struct {
	Word string `json:"word"`
}

// programs are the replies of the agent's model. The check rejects the first program, and the second reply has none.
// The third makes a call that a person approves, and fails. The fourth makes calls in parallel, one of which runs an
// agent, has an error, repeats the approved call, which the journal answers, and makes a call that the person refuses.
var programs = []string{
	"```js\nawait missing({word: '5ecret'})\n```",
	`no program, but 5ecret`,
	"```js\nawait send({word: '5ecret'})\nthrow new Error('5ecret')\n```",
	"```js\n" + `const parts = await Promise.all([double({n: 1}), double({n: 2}), research({word: "5ecret"})])
try { await broken({word: "5ecret"}) } catch { parts.push({n: 0}) }
await send({word: "5ecret"})
try { await drop({word: "5ecret"}) } catch { parts.push({n: 0}) }
submit("5ecret: " + parts.length)` + "\n```",
}

// work runs an agent, and then a module whose model fails.
func work(t *testing.T, observe func(context.Context) context.Context, tracer api.Tracer) {
	t.Helper()
	ctx, caller := tracer.Start(t.Context(), "caller")
	defer caller.End()
	counter := llmtest.New(
		"[[ ## thought ## ]]\n5ecret\n\n[[ ## tool ## ]]\ndouble\n\n[[ ## args ## ]]\n{\"n\": 4}",
		"[[ ## thought ## ]]\n5ecret\n\n[[ ## tool ## ]]\nsubmit\n\n[[ ## args ## ]]\n{\"n\": 8}",
	).With(models.Capabilities{Model: "small"})
	double := tools.Func("double", "Doubles a number.", func(ctx context.Context, in number) (number, error) {
		_, own := tracer.Start(ctx, "own span of a tool")
		defer own.End()
		return number{2 * in.N}, nil
	}, &tools.Hints{Class: tools.Read})
	reads, err := tools.NewSet(ctx, double)
	if err != nil {
		t.Fatal(err)
	}
	research := module.NewReAct(signature.Must(signature.New[word, number]("Count.")), counter, reads, nil)
	send := func(context.Context, word) (word, error) { return word{secret}, nil }
	set, err := tools.NewSet(ctx, double,
		module.Tool("research", "Counts.", research, &tools.Hints{Class: tools.Read}),
		tools.Func("broken", "Fails.", func(context.Context, word) (number, error) {
			return number{}, &tools.ToolError{Kind: secret, Message: secret}
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("send", "Sends.", send, nil), tools.Func("drop", "Drops.", send, nil))
	if err != nil {
		t.Fatal(err)
	}
	approve := policy.Approve(func(_ context.Context, r policy.Request) (policy.Decision, error) {
		return policy.Decision{Approved: r.Call.Tool.Name == "send", Reason: secret}, nil
	})
	set = set.With(policy.If(policy.Tools("send", "drop"), approve))
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	bot, err := agent.New(llmtest.New(programs...).With(models.Capabilities{Model: "large"}),
		&agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(observe(ctx), agent.Task{Task: "Count the letters of " + secret})
	if err != nil || pred.Output.Answer != secret+": 4" && pred.Output.Answer != secret+": 5" {
		t.Fatalf("got %v, %v", pred, err)
	}
	failing := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, &models.Error{Kind: models.KindRateLimited, Err: errors.New(secret)}
	})
	one := module.NewPredict(signature.Must(signature.New[word, number]("Count.")), failing, nil)
	reward := func(context.Context, word, *module.Prediction[number]) (module.Score, error) {
		return module.Score{Value: 1}, nil
	}
	attempts := module.NewBestOfN(one, 2, reward, 1, nil)
	if _, err := attempts.Run(observe(ctx), word{secret}); err == nil {
		t.Fatal("the model fails, and Run does not")
	}
}

// TestTraces compares the exported spans and metrics with a golden file.
func TestTraces(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	var log bytes.Buffer
	observer, err := telemetry.New(&telemetry.Options{
		TracerProvider: tracers, MeterProvider: meters, Provider: "openai",
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	times := map[string]bool{}
	work(t, func(ctx context.Context) context.Context {
		return module.Observe(observer.Observe(ctx), func(_ context.Context, e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			times[fmt.Sprint(e.From().Time.UnixNano())] = true
		})
	}, tracers.Tracer("test"))
	shutdown()
	golden(t, "agent.txt", r.tree("writ.run", "writ.program.computing", "gen_ai.usage.input_tokens",
		"gen_ai.usage.output_tokens")+"\n"+r.table())
	conform(t, r)
	if all := r.tree() + log.String(); strings.Contains(all, secret) {
		t.Errorf("contents are exported:\n%s", all)
	}
	within(t, r)
	logged(t, r, log.Bytes())
	for _, s := range ours(r) {
		if !times[fmt.Sprint(s.GetStartTimeUnixNano())] ||
			s.GetName() != "check" && !times[fmt.Sprint(s.GetEndTimeUnixNano())] {
			t.Errorf("%s does not have the times of events", s.GetName())
		}
	}
	if all, agent := inputTokens(r, "chat"), inputTokens(r, "invoke_agent Agent"); all == 0 || all != agent {
		t.Errorf("the agent has %d input tokens, and all requests have %d", agent, all)
	}
}

// ours returns the spans that the library made.
func ours(r *receiver) []*traces.Span {
	return slices.DeleteFunc(slices.Clone(r.spans), func(s *traces.Span) bool {
		return s.GetName() == "caller" || strings.HasPrefix(s.GetName(), "own span")
	})
}

// inputTokens returns the input tokens of the spans whose names have a prefix.
func inputTokens(r *receiver, prefix string) (sum int64) {
	for _, s := range r.spans {
		for _, a := range s.GetAttributes() {
			if strings.HasPrefix(s.GetName(), prefix) && a.GetKey() == "gen_ai.usage.input_tokens" {
				sum += a.GetValue().GetIntValue()
			}
		}
	}
	return sum
}

// within checks that spans lie within their parents.
func within(t *testing.T, r *receiver) {
	t.Helper()
	for _, s := range r.spans {
		for _, p := range r.spans {
			if string(s.GetParentSpanId()) == string(p.GetSpanId()) &&
				(s.GetStartTimeUnixNano() < p.GetStartTimeUnixNano() || s.GetEndTimeUnixNano() > p.GetEndTimeUnixNano()) {
				t.Errorf("%s does not lie within %s", s.GetName(), p.GetName())
			}
		}
	}
}

// logged checks that each span of the library was logged with its IDs.
func logged(t *testing.T, r *receiver, log []byte) {
	t.Helper()
	var got, want []string
	for _, l := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		var record struct {
			Msg, Level string
			TraceID    string `json:"trace_id"`
			SpanID     string `json:"span_id"`
			ErrorType  string `json:"error_type"`
		}
		if err := json.Unmarshal(l, &record); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(record.Msg, record.TraceID, record.SpanID, record.Level == "WARN",
			record.ErrorType != ""))
	}
	for _, s := range ours(r) {
		failed := s.GetStatus().GetCode() != 0
		want = append(want, fmt.Sprintf("%s%x%x%t %t", s.GetName(), s.GetTraceId(), s.GetSpanId(), failed, failed))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestContents checks that contents are exported if they are asked for.
func TestContents(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	observer, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters, Contents: true})
	if err != nil {
		t.Fatal(err)
	}
	work(t, observer.Observe, tracers.Tracer("test"))
	shutdown()
	conform(t, r)
	if strings.Contains(r.table(), secret) {
		t.Errorf("the metrics have contents:\n%s", r.table())
	}
	has := map[string]bool{}
	for _, s := range r.spans {
		for _, a := range s.GetAttributes() {
			v := a.GetValue().GetStringValue()
			has[a.GetKey()] = has[a.GetKey()] || strings.Contains(v, secret)
			if strings.HasSuffix(a.GetKey(), ".messages") {
				var list []struct {
					Role  string
					Parts []struct{ Type, Content string }
				}
				if err := json.Unmarshal([]byte(v), &list); err != nil || len(list) == 0 || len(list[0].Parts) == 0 {
					t.Errorf("%s is %s: %v", a.GetKey(), v, err)
				}
				for _, m := range list {
					if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
						t.Errorf("a message has the role %q", m.Role)
					}
				}
			}
		}
		has["status"] = has["status"] || strings.Contains(s.GetStatus().GetMessage(), secret)
	}
	for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments",
		"gen_ai.tool.call.result", "writ.program.code", "writ.observation", "writ.output", "status"} {
		if !has[key] {
			t.Errorf("%s has no contents", key)
		}
	}
}

// TestServer compares the spans and metrics of an MCP server, whose client has none, with a golden file.
func TestServer(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	server, err := codemode.New(&codemode.Options{Sandbox: box, MeterProvider: meters, TracerProvider: tracers})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	h, err := server.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]map[string]any{
		"execute_code": {"code": "1 + 1"}, "missing": {}, "execute_code_file": {},
	} {
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	}
	session.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	web.Close()
	shutdown()
	golden(t, "server.txt", r.tree()+"\n"+r.table())
	conform(t, r)
}

// TestRun runs the example.
func TestRun(t *testing.T) {
	r := newReceiver(t)
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.tree(), "invoke_agent Agent [internal]") ||
		!strings.Contains(r.table(), `gen_ai.operation.name="chat" gen_ai.provider.name="_OTHER"`) {
		t.Errorf("got\n%s%s", r.tree(), r.table())
	}
}

// conform checks all names and units against the conventions.
func conform(t *testing.T, r *receiver) {
	t.Helper()
	list, err := os.ReadFile("testdata/semconv-1.41.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(list), "\n")
	check := func(what, name string) {
		if !strings.HasPrefix(name, "writ.") && !slices.Contains(known, what+" "+name) {
			t.Errorf("the conventions have no %s %s", what, name)
		}
	}
	for _, s := range ours(r) {
		for _, a := range s.GetAttributes() {
			check("attribute", a.GetKey())
		}
		for _, e := range s.GetEvents() {
			check("event", e.GetName())
			for _, a := range e.GetAttributes() {
				check("attribute", a.GetKey())
			}
		}
	}
	for _, m := range r.metrics {
		check("metric", m.GetName()+" "+m.GetUnit())
		if m.GetUnit() == "" || m.GetDescription() == "" {
			t.Errorf("%s has the unit %q and the description %q", m.GetName(), m.GetUnit(), m.GetDescription())
		}
		for _, p := range points(m) {
			for _, a := range p.attributes {
				check("attribute", a.GetKey())
			}
		}
	}
	for _, url := range r.schemas {
		if url != "https://opentelemetry.io/schemas/1.41.0" && url != "" { // the test's own spans have none
			t.Errorf("the schema is %q", url)
		}
	}
}

// golden compares text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\nrun go test -update if the change is intended", path, got, want)
	}
}
