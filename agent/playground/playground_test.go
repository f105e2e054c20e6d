package playground_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type refund struct {
	Amount int `json:"amount"`
}

const program = "I refund it.\n\n```js\nlet text = \"\";\n" +
	"try { text = await refund({ amount: 5 }) } catch (e) { text = e.message }\nsubmit({ answer: text });\n```"

// newAgent returns an agent whose tool needs approval.
func newAgent(t *testing.T, model llms.Model, call func(context.Context, refund) (string, error)) *agent.Agent {
	t.Helper()
	if call == nil {
		call = func(_ context.Context, in refund) (string, error) { return fmt.Sprintf("refunded %d", in.Amount), nil }
	}
	set, err := tools.NewSet(t.Context(),
		tools.Func("refund", "Refunds an amount.", call, &tools.Hints{Class: tools.Effect, Destructive: true}))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	bot, err := agent.New(model, &agent.Options{Sandbox: box,
		Tools: set.With(policy.If(policy.Destructive(), policy.Approve(nil)))})
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

// client is a client of a playground.
type client struct {
	t    *testing.T
	host string // such as http://127.0.0.1:1234
	page string // the URL of the page
}

func serve(t *testing.T, store journal.Store, bot *agent.Agent) *client {
	t.Helper()
	runs := agent.NewRuns(store)
	runs.AskHolds = true
	p := playground.New(runs, bot, &playground.Options{Title: "A <b> title", Note: "note"})
	server := httptest.NewServer(p)
	t.Cleanup(server.CloseClientConnections)
	return &client{t, server.URL, server.URL + p.Path()}
}

// request sends a request, and returns the status and the body.
func (c *client) request(method, url, body string, change func(*http.Request)) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", c.host)
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (c *client) post(path, body string, want int) string {
	c.t.Helper()
	status, text := c.request(http.MethodPost, c.page+path, body, nil)
	if status != want {
		c.t.Fatalf("POST %s: got %d %s, want %d", path, status, text, want)
	}
	return text
}

// start starts a run, and returns its ID.
func (c *client) start() string {
	c.t.Helper()
	var started struct{ ID string }
	if err := json.Unmarshal([]byte(c.post("runs", `{"task": "Refund it."}`, http.StatusOK)), &started); err != nil {
		c.t.Fatal(err)
	}
	return started.ID
}

// info is what the page knows of a run.
type info struct {
	ID, Task, State, Answer, Error, Hash string
	Stopping, Report                     bool
	Waiting                              []struct {
		ID, Tool, Args       string
		Destructive, Unknown bool
		Resembles            []journal.Entry
	}
}

// tab is a stream of events.
type tab struct {
	*client
	run   string
	lines *bufio.Scanner
	seen  []string // the numbered messages: the ID and the data
	last  string   // the ID of the last one
	runs  []info
}

// tab opens a stream that shows a run, after the message with an ID if it is not "".
func (c *client) tab(run, after string) *tab {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.page+"events?run="+run, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &tab{client: c, run: run, lines: lines}
}

// until reads the stream until a condition holds for the run.
func (b *tab) until(holds func(info) bool) info {
	b.t.Helper()
	for b.lines.Scan() {
		name, id := "", ""
		for ; b.lines.Text() != ""; b.lines.Scan() {
			switch key, value, _ := strings.Cut(b.lines.Text(), ": "); {
			case key == "event":
				name = value
			case key == "id":
				id = value
			case key == "data" && name == "runs":
				b.runs = nil
				if err := json.Unmarshal([]byte(value), &b.runs); err != nil {
					b.t.Fatal(err)
				}
			case key == "data":
				b.seen, b.last = append(b.seen, id+" "+value), id
			}
		}
		for _, one := range b.runs {
			if name == "runs" && one.ID == b.run && holds(one) {
				return one
			}
		}
	}
	b.t.Fatalf("the stream has ended: %v", b.lines.Err())
	return info{}
}

// became waits for a state.
func (b *tab) became(state agent.RunState) info {
	b.t.Helper()
	return b.until(func(i info) bool { return i.State == string(state) })
}

// saw reports whether one of the messages contains the text.
func (b *tab) saw(text string) bool { return strings.Contains(strings.Join(b.seen, "\n"), text) }

func (b *tab) decide(i info, decision string) {
	b.t.Helper()
	body := fmt.Sprintf(`{"hash": %q, "decisions": {%q: %s}}`, i.Hash, i.Waiting[0].ID, decision)
	b.post("runs/"+i.ID+"/resume", body, http.StatusOK)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]string{
		`{"approved": true}`:                            "refunded 5",
		`{"approved": true, "args": "{\"amount\": 7}"}`: "refunded 7",
		`{"approved": false, "reason": "Not today."}`:   "Not today.",
	} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			c := serve(t, journal.NewMemory(), newAgent(t, llmtest.New(program), nil))
			b := c.tab(c.start(), "")
			paused := b.became(agent.Paused)
			if len(paused.Waiting) != 1 || paused.Waiting[0].Tool != "refund" || !paused.Waiting[0].Destructive {
				t.Fatalf("the run waits for %+v", paused.Waiting)
			}
			b.decide(paused, decision)
			done := b.became(agent.Done)
			if !strings.Contains(done.Answer, want) || !b.saw(`"event":"ToolCallEnd"`) || !b.saw("decision") {
				t.Errorf("got the answer %q, want %q; messages: %q", done.Answer, want, b.seen)
			}
			status, html := c.request(http.MethodGet, c.page+"runs/"+done.ID+"/report", "", nil)
			if status != http.StatusOK || !strings.Contains(html, "Refund it.") || !strings.Contains(html, want) {
				t.Errorf("the report: %d %.200s", status, html)
			}
			c.post("runs/"+done.ID+"/resume", `{}`, http.StatusConflict)
		})
	}
}

// A decision counts for what the person saw. The second of two tabs that decide gets an error.
func TestOldDecision(t *testing.T) {
	t.Parallel()
	c := serve(t, journal.NewMemory(), newAgent(t, llmtest.New(program), nil))
	b := c.tab(c.start(), "")
	paused := b.became(agent.Paused)
	for _, body := range []string{`{"hash": "other"}`, `{}`} {
		if text := c.post("runs/"+b.run+"/resume", body, http.StatusConflict); !strings.Contains(text, "decide again") {
			t.Errorf("got %s", text)
		}
	}
	b.decide(paused, `{"approved": true, "args": "{"}`)
	invalid := b.until(func(i info) bool { return i.Error != "" })
	if len(invalid.Waiting) != 1 || invalid.State != "paused" || !strings.Contains(invalid.Error, "not JSON") {
		t.Errorf("after an invalid decision: %+v", invalid)
	}
	b.decide(invalid, `{"approved": true}`)
	b.became(agent.Done)
	c.post("runs/"+b.run+"/resume", fmt.Sprintf(`{"hash": %q}`, paused.Hash), http.StatusConflict)
	c.post("runs/none/resume", `{}`, http.StatusNotFound)
	c.post("runs/none/stop", `{}`, http.StatusNotFound)
	c.post("runs/"+b.run+"/stop", `{}`, http.StatusConflict)
	c.post("runs", `{`, http.StatusBadRequest)
	c.post("runs", `{"task": " "}`, http.StatusBadRequest)
}

// A call whose outcome is unknown waits for a person, who says what it did.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]string{
		`{"outcome": "ok", "result": "\"it arrived\""}`: "it arrived",
		`{"outcome": "rejected"}`:                       "refunded 5",
	} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			lost := true
			call := func(_ context.Context, in refund) (string, error) {
				if lost {
					lost = false
					return "", tools.Unknown(errors.New("the connection was lost"))
				}
				return fmt.Sprintf("refunded %d", in.Amount), nil
			}
			again := "```js\nsubmit({ answer: await refund({ amount: 5 }) });\n```"
			model := llmtest.New("```js\nawait refund({ amount: 5 })\n```", again, again, again)
			c := serve(t, journal.NewMemory(), newAgent(t, model, call))
			b := c.tab(c.start(), "")
			b.decide(b.became(agent.Paused), `{"approved": true}`)
			i := b.until(func(i info) bool { return len(i.Waiting) > 0 && i.Waiting[0].Unknown || i.State == "failed" })
			if i.State == "failed" {
				t.Fatalf("%+v", i)
			}
			b.decide(i, decision)
			i = b.until(func(i info) bool {
				return i.State != "running" && (len(i.Waiting) == 0 || !i.Waiting[0].Unknown)
			})
			if i.State == "paused" { // the call that is made now needs approval
				b.decide(i, `{"approved": true}`)
				i = b.became(agent.Done)
			}
			if i.Answer != want {
				t.Errorf("got %+v, want the answer %q", i, want)
			}
		})
	}
}

// A person says how a held call relates to those that it resembles.
func TestHold(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]string{
		`{"repeat": {"same": "E1"}}`:        "refunded 5",
		`{"repeat": {"distinct": ["all"]}}`: "refunded 6",
		`{"repeat": {}}`:                    "the model was asked",
	} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New("```js\nawait refund({ amount: 5 }); throw 1\n```",
				"```js\nsubmit({ answer: await refund({ amount: 6 }) })\n```",
				"```js\nsubmit({ answer: (await refund({ amount: 5 }), \"the model was asked\") })\n```")
			c := serve(t, journal.NewMemory(), newAgent(t, model, nil))
			b := c.tab(c.start(), "")
			b.decide(b.became(agent.Paused), `{"approved": true}`)
			i := b.until(func(i info) bool { return i.State != "running" && i.Waiting[0].Resembles != nil })
			if w := i.Waiting[0]; len(w.Resembles) != 1 || w.Resembles[0].ID != "E1" || w.Resembles[0].State != journal.StateOK {
				t.Fatalf("the run waits for %+v", i.Waiting)
			}
			b.decide(i, decision)
			i = b.until(func(i info) bool {
				return i.State != "running" && (len(i.Waiting) == 0 || i.Waiting[0].Resembles == nil)
			})
			if i.State == "paused" { // the call that is made now needs approval
				b.decide(i, `{"approved": true}`)
				i = b.became(agent.Done)
			}
			if i.Answer != want {
				t.Errorf("got %+v, want the answer %q", i, want)
			}
		})
	}
}

// A reload gets the messages after the last one, and another tab gets all of them.
func TestTabs(t *testing.T) {
	t.Parallel()
	c := serve(t, journal.NewMemory(), newAgent(t, llmtest.New(program), nil))
	first := c.tab(c.start(), "")
	paused := first.became(agent.Paused)
	half := len(first.seen) / 2
	id, _, _ := strings.Cut(first.seen[half-1], " ")
	for after, want := range map[string][]string{"": first.seen, id: first.seen[half:], first.last: nil} {
		other := c.tab(first.run, after)
		other.became(agent.Paused)
		if got := strings.Join(other.seen, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("after %q: got\n%s\nwant\n%s", after, got, want)
		}
	}
	second := c.tab(first.run, first.last)
	second.decide(paused, `{"approved": true}`)
	if one, two := first.became(agent.Done), second.became(agent.Done); one.Answer != two.Answer {
		t.Errorf("the tabs show %+v and %+v", one, two)
	}
	if !strings.Contains(second.seen[0], `{"event":"reset"}`) {
		t.Errorf("the second attempt begins with %s", second.seen[0])
	}
}

// waiting returns a model that replies once it is told to, and a function that waits until it is asked.
func waiting() (model llms.Model, asked func(), reply func()) {
	question, answer := make(chan struct{}), make(chan struct{})
	model = llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > 1 {
			return llmtest.Reply{Text: "```js\nsubmit({ answer: \"resumed\" })\n```"}, nil
		}
		close(question)
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return llmtest.Reply{Text: "```js\n1 + 1\n```"}, nil
	})
	return model, func() { <-question }, func() { close(answer) }
}

func TestStop(t *testing.T) {
	t.Parallel()
	model, asked, reply := waiting()
	c := serve(t, journal.NewMemory(), newAgent(t, model, nil))
	b := c.tab(c.start(), "")
	asked()
	c.post("runs/"+b.run+"/resume", `{}`, http.StatusConflict)
	c.post("runs/"+b.run+"/stop", `{}`, http.StatusOK)
	b.until(func(i info) bool { return i.Stopping })
	reply() // the request in progress may end
	i := b.became(agent.Paused)
	c.post("runs/"+b.run+"/resume", fmt.Sprintf(`{"hash": %q}`, i.Hash), http.StatusOK)
	if i := b.became(agent.Done); i.Answer != "resumed" {
		t.Errorf("got %+v", i)
	}
}

// The second stop does not wait for the request in progress.
func TestStopNow(t *testing.T) {
	t.Parallel()
	model, asked, _ := waiting()
	c := serve(t, journal.NewMemory(), newAgent(t, model, nil))
	b := c.tab(c.start(), "")
	asked()
	c.post("runs/"+b.run+"/stop", `{}`, http.StatusOK)
	c.post("runs/"+b.run+"/stop", `{}`, http.StatusOK)
	i := b.until(func(i info) bool { return i.State != "running" })
	c.post("runs/"+b.run+"/resume", fmt.Sprintf(`{"hash": %q}`, i.Hash), http.StatusOK)
	if i := b.became(agent.Done); i.Answer != "resumed" {
		t.Errorf("got %+v", i)
	}
}

// The runs in the store can be decided on in another process.
func TestStore(t *testing.T) {
	t.Parallel()
	store := journal.NewMemory()
	c := serve(t, store, newAgent(t, llmtest.New(program), nil))
	b := c.tab(c.start(), "")
	b.became(agent.Paused)
	other := serve(t, store, newAgent(t, llmtest.New(), nil)).tab(b.run, "")
	i := other.became(agent.Paused)
	if i.Task != "Refund it." || len(i.Waiting) != 1 || i.Hash == "" {
		t.Fatalf("got %+v", i)
	}
	other.decide(i, `{"approved": true}`)
	if i := other.became(agent.Done); i.Answer != "refunded 5" {
		t.Errorf("got %+v", i)
	}
	third := serve(t, store, newAgent(t, llmtest.New(), nil)).tab(b.run, "")
	if i := third.became(agent.Done); i.Answer != "refunded 5" || i.Report {
		t.Errorf("got %+v", i)
	}
}

// Only the page itself can do anything.
func TestAdmission(t *testing.T) {
	t.Parallel()
	model := llmtest.New()
	c := serve(t, journal.NewMemory(), newAgent(t, model, nil))
	token := strings.Trim(strings.TrimPrefix(c.page, c.host), "/")
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	port := c.host[strings.LastIndex(c.host, ":"):]
	for _, test := range []struct {
		name, method, url string
		change            func(*http.Request)
		want              int
	}{
		{"page", http.MethodGet, c.page, nil, http.StatusOK},
		{"script", http.MethodGet, c.page + "page.js", nil, http.StatusOK},
		{"localhost", http.MethodGet, c.page, host("localhost" + port), http.StatusOK},
		{"no such page", http.MethodGet, c.page + "other", nil, http.StatusNotFound},
		{"no token", http.MethodGet, c.host + "/", nil, http.StatusForbidden},
		{"no token for events", http.MethodGet, c.host + "/events", nil, http.StatusForbidden},
		{"wrong token", http.MethodGet, c.host + "/" + strings.ToLower(token) + "/", nil, http.StatusForbidden},
		{"part of the token", http.MethodGet, c.host + "/" + token[:20] + "/", nil, http.StatusForbidden},
		{"wrong host", http.MethodGet, c.page, host("example.com" + port), http.StatusForbidden},
		{"wrong port", http.MethodGet, c.page, host("127.0.0.1:1"), http.StatusForbidden},
		{"other page reads", http.MethodGet, c.page, set("Origin", "http://example.com"), http.StatusForbidden},
		{"other page", http.MethodPost, c.page + "runs", set("Origin", "http://example.com"), http.StatusForbidden},
		{"opaque page", http.MethodPost, c.page + "runs", set("Origin", "null"), http.StatusForbidden},
		{"no origin", http.MethodPost, c.page + "runs", func(r *http.Request) { r.Header.Del("Origin") },
			http.StatusForbidden},
	} {
		if status, text := c.request(test.method, test.url, `{"task": "x"}`, test.change); status != test.want {
			t.Errorf("%s: got %d %.100s, want %d", test.name, status, text, test.want)
		}
	}
	large := `{"task": "` + strings.Repeat("x", 1<<20) + `"}`
	c.post("runs", large, http.StatusRequestEntityTooLarge)
	c.post("runs", `{"task": "x", "grant": true}`, http.StatusBadRequest)
	if n := len(model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	c := serve(t, journal.NewMemory(), newAgent(t, llmtest.New(), nil))
	response, err := http.Get(c.page)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	html, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(html, []byte("A &lt;b&gt; title")) || !bytes.Contains(html, []byte("note")) {
		t.Errorf("got %s (%v)", html, err)
	}
	got := response.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(got, "default-src 'none'; script-src 'self';") || strings.Contains(got, "unsafe") {
		t.Errorf("the content policy is %q", got)
	}
	script, err := os.ReadFile("page.js")
	if err != nil || bytes.Contains(script, []byte("HTML")) {
		t.Errorf("page.js sets HTML, or cannot be read: %v", err)
	}
}

// Serve pauses the runs in progress, and refuses addresses that others can reach.
func TestServe(t *testing.T) {
	t.Parallel()
	model, asked, reply := waiting()
	store := journal.NewMemory()
	p := playground.New(agent.NewRuns(store), newAgent(t, model, nil), nil)
	if err := p.Serve(t.Context(), "0.0.0.0:0", io.Discard); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error)
	go func() { ended <- p.Serve(ctx, "127.0.0.1:0", w) }()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	c := &client{t, strings.TrimSuffix(url, p.Path()), url}
	id := c.start()
	asked()
	cancel()
	for err == nil { // until the runs were paused, and the page is gone
		var response *http.Response
		if response, err = http.Get(url); err == nil {
			_ = response.Body.Close()
		}
	}
	reply()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	list, err := agent.NewRuns(store).List(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].State != agent.Paused {
		t.Errorf("got %+v (%v)", list, err)
	}
}
