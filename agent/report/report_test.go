package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func render(t *testing.T, run module.Trajectory, o *report.Options) string {
	t.Helper()
	var b strings.Builder
	if err := report.Write(&b, run, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func expect(t *testing.T, html string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%.20000s", html[max(0, strings.Index(html, "<body")):])
	}
}

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// example returns a run with a held program and one that submits, with two calls at the same time.
func example() module.Trajectory {
	prompt := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."),
		llms.TextParts(llms.ChatMessageTypeHuman, "How many?")}
	return module.Trajectory{
		ID: 7, Module: "CodeAct", Began: began, Duration: 2 * time.Second, Fallback: "the compiled program threw",
		Steps: []module.Step{{
			Began: began, Model: "m", Duration: time.Second, Prompt: prompt, Reply: "I try.", Reasoning: "I try.",
			Code: "const a = 1\n\nsend({ a })", Usage: event.Usage{Calls: 1, InputTokens: 1_000_000, OutputTokens: 5},
			Failed: "other: 503",
			Outcome: &sandbox.Outcome{
				Failure: &sandbox.Failure{
					Finding: sandbox.Finding{Kind: sandbox.KindHeld, Message: "like E1", Line: 3},
				},
				Warnings: []sandbox.Finding{{Kind: "remark", Message: "no line"}},
			},
		}, {
			Began: began.Add(time.Second), Model: "m", Prompt: append(prompt, prompt...), Reply: "Now.",
			Code:   "/x\"/.test(y)",
			Answer: json.RawMessage(`{"zeta": "two", "alpha": 2}`),
			Outcome: &sandbox.Outcome{
				Duration: time.Second, Submitted: true, Stdout: sandbox.Output{Text: "printed", Bytes: 7},
				Calls: []sandbox.Call{
					{ID: 1, Tool: "read", Args: json.RawMessage(`{}`), Recorded: true, Duration: time.Second / 2},
					{ID: 2, Tool: "send", Decision: "approved by ann", Started: time.Second / 4,
						Duration: time.Second / 2},
					{ID: 3, Tool: "late", Pending: true, Started: time.Second / 2, Duration: time.Second / 2},
				},
			},
		}},
		Calls: []journal.Entry{
			{ID: "E1", Tool: "read", Class: tools.Read}, {ID: "E2", Tool: "send", State: journal.StateOK},
		},
		Runs: []module.Trajectory{{ID: 8, Module: "Predict", Name: "Sort", CalledBy: "E2", Steps: []module.Step{{Reply: "inner"}}}},
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	html := render(t, example(), &report.Options{Prices: map[string]budget.Price{"m": {Input: 2}}})
	expect(t, html,
		"<title>Run of CodeAct</title>", "2026-03-04 05:06:07 UTC", "How many?",
		`<span class="mark warn">fallback to the model: the compiled program threw</span>`,
		`<span class="mark warn">failed before: other: 503</span>`,
		`<span class="mark warn">held</span>`, `<span class="mark note">from the record</span>`,
		`<span class="mark note">approved by ann</span>`, `<span class="mark warn">not ended</span>`,
		`<span class="mark note">submitted</span>`, "printed", "2.0000</td>", "1000000 → 5 tokens",
		`<dt>zeta</dt><dd class="prose"><pre>two</pre></dd><dt>alpha</dt>`,
		`send({ a })</code></div><div class="finding bad"><b>held</b> <span class="dim">line 3, column 0</span>`,
		`</div><div class="finding warn"><b>remark</b> <span class="said">no line</span>`, // below the program
		// A regular expression, not a string.
		`<span class="string">/x&#34;/</span>.test`,
		`<a href="#r1-s1-m1">as in an earlier step</a>`, `<b>Sort (Predict)</b> <span class="dim">called by E2</span>`,

		`<rect class="call" x="62.50%" y="12" width="25.00%"`, // overlaps the call before
		`<rect class="warn" x="75.00%" y="0" width="25.00%"`,  // begins when the first call ends
	)
	if strings.Count(html, ">read</code>") != 1 || strings.Count(html, ">send</code>") != 2 {
		t.Error("the record of calls has reads, or lacks an effect")
	}
	if strings.Contains(html, "<script") {
		t.Error("the page has a script")
	}
}

// A trajectory that was read from JSON has the same report.
func TestJSON(t *testing.T) {
	t.Parallel()
	run := example()
	run.Err = errors.New("no answer was found")
	raw, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var read module.Trajectory
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if got, want := render(t, read, nil), render(t, run, nil); got != want {
		t.Errorf("the reports differ:\n%s", got)
	}
}

// The content policy permits the style of the page, and nothing else.
func TestContentPolicy(t *testing.T) {
	t.Parallel()
	html := render(t, module.Trajectory{}, nil)
	_, style, _ := strings.Cut(html, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	hash := sha256.Sum256([]byte(style))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)
	want := "default-src &#39;none&#39;; style-src &#39;sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"
	if len(style) < 1000 || policy == nil ||
		strings.NewReplacer("'", "&#39;", "+", "&#43;").Replace(policy[1]) != strings.ReplaceAll(want, "+", "&#43;") {
		t.Errorf("the policy is %q, want %s", policy, want)
	}
}

// Secrets are replaced everywhere, also if a value is cut within a secret.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery staple"
	token := "ghp_" + strings.Repeat("a1B2", 9)
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(map[string]string{secret: secret + " " + token})
	f := sandbox.Finding{Kind: secret, Message: secret, Hint: secret}
	step := module.Step{
		Predictor: secret, Model: secret, Failed: secret, Reasoning: secret, Code: "x = `" + secret + "`",
		Reply: secret, Thinking: secret, Observation: secret, Answer: quoted, Schema: quoted,
		Prompt: []llms.MessageContent{llms.TextParts(secret, strings.Repeat("x", 1<<16-10)+secret)},
		Outcome: &sandbox.Outcome{
			Value: quoted, Stdout: sandbox.Output{Text: secret}, Stderr: sandbox.Output{Text: secret},
			Failure: &sandbox.Failure{Finding: f}, Warnings: []sandbox.Finding{f},
			Calls: []sandbox.Call{
				{ID: 1, Tool: secret, Args: quoted, Result: quoted, Decision: secret},
				{ID: 2, Error: &tools.ToolError{Kind: secret, Message: secret}},
			},
		},
	}
	entry := []journal.Entry{{ID: secret, Tool: secret, Args: quoted, Err: errors.New(secret)}}
	run := module.Trajectory{
		Module: secret, Name: secret, Err: errors.New(secret), Fallback: secret, Steps: []module.Step{step},
		Calls: entry, Orphans: entry, Evidence: []sandbox.Finding{f}, Score: &module.Score{Feedback: secret},
		Spent: event.ModelUsage{secret: {}},
	}
	run.Runs = []module.Trajectory{run}
	html := render(t, run, &report.Options{Title: secret, Inputs: []string{secret}, Secrets: secrets})
	if i := strings.Index(html, "horse"); i >= 0 {
		t.Errorf("the page has the secret: …%s", html[max(0, i-200):i])
	}
	if strings.Contains(html, "ghp_") || strings.Contains(render(t, run, nil), "ghp_") {
		t.Error("the page has a token")
	}
}

// A secret is not shown in part where text is cut, nor if invisible characters are within it.
func TestSplitSecrets(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for _, text := range []string{
		strings.Repeat(token+" ", 3000), // as redacted, it is much shorter
		token[:10] + "\u200b" + token[10:],
		strings.Repeat("x ", 1<<15-50) + token[:10] + "\xff" + token[10:] + strings.Repeat(" x", 100),
	} {
		raw, _ := json.Marshal(text)
		html := render(t, module.Trajectory{Module: text, Steps: []module.Step{{
			Predictor: text, Reply: text, Answer: raw,
			Outcome: &sandbox.Outcome{Calls: []sandbox.Call{
				{Args: raw, Duration: 1, Tool: strings.Repeat("x ", 22) + text}}, Value: raw},
		}}}, nil)
		for _, part := range []string{token[:11], token[:4] + "a1B…"} {
			if i := strings.Index(html, part); i >= 0 {
				t.Errorf("%.60q: the page has …%s", text, html[max(0, i-60):i+20])
			}
		}
	}
}

// Huge values and thousands of calls make a page that a browser can show.
func TestBounds(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("<&\u202e", 2<<20)
	raw := json.RawMessage(`"` + huge + `"`)
	small := module.Step{Reply: huge, Code: huge, Reasoning: huge}
	step := small
	step.Outcome = &sandbox.Outcome{Value: raw}
	for i := range 5100 {
		step.Outcome.Calls = append(step.Outcome.Calls, sandbox.Call{ID: i + 1, Tool: huge, Args: raw, Result: raw})
	}
	run := module.Trajectory{Module: huge, Err: errors.New(huge), Steps: []module.Step{step}}
	run.Steps = append(run.Steps, slices.Repeat([]module.Step{small}, 1010)...)
	run.Runs = slices.Repeat([]module.Trajectory{{Steps: []module.Step{small}}}, 600)
	html := render(t, run, nil)
	if len(html) > 60<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
	expect(t, html, "5000 calls", "100 more calls not shown", " of 10485760 bytes are shown.",
		`&lt;&amp;<span class="hidden-char">U&#43;202E</span>`,
		"112 more steps, runs and calls in the record are not shown")
}

// Small values whose elements or indents are large do not make a large page.
func TestBoundsOfElements(t *testing.T) {
	t.Parallel()
	deep := json.RawMessage(strings.Repeat("[", 8000) + strings.Repeat("]", 8000))
	for name, step := range map[string]module.Step{
		"lines": {Code: strings.Repeat("\n", 60_000) + "a"}, "tokens": {Code: strings.Repeat("1,", 30_000)},
		"indents": {Outcome: &sandbox.Outcome{Value: deep}},
	} {
		run := module.Trajectory{Steps: slices.Repeat([]module.Step{step}, 100)}
		if html := render(t, run, nil); len(html) > 12<<20 {
			t.Errorf("%s: the page has %d bytes", name, len(html))
		}
	}
	if html := render(t, module.Trajectory{Steps: []module.Step{{
		Outcome: &sandbox.Outcome{Value: deep},
	}}}, nil); strings.Contains(html, "[\n") {
		t.Error("a deep value is indented")
	}
}

// A page does not list all earlier messages in each of many steps.
func TestBoundsOfPrompts(t *testing.T) {
	t.Parallel()
	var run module.Trajectory
	var prompt []llms.MessageContent
	for i := range 500 {
		prompt = append(prompt, llms.TextParts("human", fmt.Sprint("q", i)), llms.TextParts("ai", "a"))
		run.Steps = append(run.Steps, module.Step{Prompt: prompt})
	}
	run.Orphans = make([]journal.Entry, 1001)
	html := render(t, run, nil)
	if len(html) > 5<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
	expect(t, html, "<pre>q499</pre>", "1 more steps, runs and calls in the record are not shown")
}

func TestEvaluation(t *testing.T) {
	t.Parallel()
	score := func(v float64) module.Score { return module.Score{Value: v, Feedback: fmt.Sprint("because ", v)} }
	r := &evaluate.Report{
		Score: evaluate.Interval{Mean: .5, Low: .25, High: .75, N: 4}, Errors: 1, NoAnswers: 1,
		Parts: map[string]evaluate.Interval{"city": {Mean: .125, Low: 0, High: 1, N: 4}},
		Results: []evaluate.Result{
			{ID: "good", Score: score(1)}, {ID: "half", Score: score(.5), Want: json.RawMessage(`{"city":"Rome"}`)},
			{ID: "silent", Err: "no reply", NoAnswer: true},
			{ID: "bad", Score: score(0), Trajectory: &module.Trajectory{
				Steps: []module.Step{{Reply: "the reply of bad"}}}},
			{ID: "odd", Score: score(math.NaN())}, {ID: "broken", Err: "no network"},
		},
		MetricUsage: event.ModelUsage{"judge": {Calls: 3}},
	}
	var b strings.Builder
	if err := report.WriteEvaluation(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	expect(t, html, `<div class="big">0.500</div>`, "95% interval 0.250 to 0.750, n = 4", `x="25.00%" width="50.00%"`,
		"1 without an answer", "1 error, left out of the score", "city</span> <b>0.125", "the reply of bad",
		"Rome", "judge")
	var order []string
	for _, m := range regexp.MustCompile(`<b>([a-z]+)</b> <bdi`).FindAllStringSubmatch(html, -1) {
		order = append(order, m[1])
	}
	if want := []string{"broken", "silent", "odd", "bad", "half", "good"}; !slices.Equal(order, want) {
		t.Errorf("the results are in the order %q, want %q", order, want)
	}
	if err := report.WriteEvaluation(io.Discard, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestOptimization(t *testing.T) {
	t.Parallel()
	spent := func(n int) optimize.Spent { return optimize.Spent{StudentCalls: n} }
	r := &optimize.Result[any]{Warnings: []string{"too few examples"}, Spent: spent(90)}
	r.Candidates = []optimize.Candidate{
		{ID: 0, By: "original", Score: .25, Spent: spent(10)},
		{ID: 1, By: "reflection", Score: .75, Parents: []int{0}, Spent: spent(50)},
		{ID: 2, By: "merge", Score: .5, Parents: []int{1, 0}, Failed: 3, Spent: spent(90)},
		{ID: 3, By: "from a damaged file", Parents: []int{9, -1}},
		{ID: 4, By: "a metric without a value", Score: math.NaN(), Parents: []int{0}},
	}
	r.Best = &r.Candidates[1]
	var b strings.Builder
	if err := report.WriteOptimization(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	expect(t, b.String(), "0.250 <span", `<a href="#c1">candidate #1</a>`, "too few examples", "&#43;0.500", "-0.250",
		"merged with #0", "failed on 3", `<span class="mark good">best</span>`, "90 student calls",
		`</details><ul><li><details class="result candidate" id="c1">`, `<circle class="best" cx="55.44%" cy="49"`,
		`<line x1="11.89%" x2="55.44%" y1="131" y2="131"/><line x1="55.44%" x2="55.44%" y1="131" y2="49"/>`)
	for _, empty := range []*optimize.Result[any]{nil, {}, {Candidates: r.Candidates}} {
		if err := report.WriteOptimization(io.Discard, empty, nil); err != nil {
			t.Error(err)
		}
	}
}

// The error of an error's Error method, of the inputs and of the writer is handled.
func TestErrors(t *testing.T) {
	t.Parallel()
	expect(t, render(t, module.Trajectory{Err: (*panicking)(nil)}, nil), "no answer")
	err := report.Write(io.Discard, module.Trajectory{}, &report.Options{Inputs: func() {}})
	if err == nil || !strings.HasPrefix(err.Error(), "report: Options.Inputs cannot be encoded as JSON: ") {
		t.Errorf("got %v", err)
	}
	if err := report.Write(full{}, module.Trajectory{}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

type panicking struct{ text string }

func (p *panicking) Error() string { return p.text }

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }
