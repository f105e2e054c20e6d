package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type question struct {
	Question string `json:"question"`
	Year     int    `json:"year"`
}

type answer struct {
	Summary string  `json:"summary"`
	Total   float64 `json:"total"`
}

var sig = signature.Must(signature.New[question, answer]("Answer the question with the tools."))

type customer struct {
	ID string `json:"id"`
}

type amount struct {
	Amount float64 `json:"amount"`
}

type mail struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

// programs are the replies of the scripted model: the first program is rejected, the second one prints, the third one
// has an effect that a person approves, and submits.
var programs = []string{
	"I ask for the refunds of all customers at once.\n\n```js\n" +
		"// one call for each customer\nconst ids = [\"c1\", \"c2\", \"c3\"];\n" +
		"const all = await Promise.all(ids.map(id => refund({ id })));\nall.map(r => r.amount)\n```",
	"The tool is `refunds`. I look at the result before I go on.\n\n```js\n" +
		"const ids = [\"c1\", \"c2\", \"c3\", \"c4\", \"c5\", \"c6\"];\n" +
		"const all = await Promise.all(ids.map(id => refunds({ id })));\n" +
		"let total = 0;\nfor (const r of all) total += r.amount;\n" +
		"try { await refunds({ id: \"none\" }) } catch (e) { console.error(`${e.kind}: ${e.message}`) }\n" +
		"console.log(`total ${total} in ${year}`);\ntotal\n```",
	"The total is plausible, so I send it and submit.\n\n```js\n" +
		"const ids = [\"c1\", \"c2\", \"c3\", \"c4\", \"c5\", \"c6\"];\n" +
		"const all = await Promise.all(ids.map(id => refunds({ id })));\n" +
		"const total = all.reduce((sum, r) => sum + r.amount, 0);\n" +
		"await send({ to: \"ann@example.com\", text: `Refunds in ${year}: ${total}` });\n" +
		"submit({ summary: \"Refunds were sent to Ann.\", total })\n```",
}

// normal returns the trajectory of a run with a rejected program, parallel calls, a caught error and an approval.
func normal(t *testing.T) module.Trajectory {
	t.Helper()
	set, err := tools.NewSet(t.Context(),
		tools.Func("refunds", "Returns a customer's refunds.", func(_ context.Context, c customer) (amount, error) {
			time.Sleep(time.Duration(len(c.ID)*7+int(c.ID[len(c.ID)-1]-'0')*9) * time.Millisecond)
			if c.ID == "none" {
				return amount{}, errors.New("there is no customer with this ID")
			}
			return amount{100.5}, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("send", "Sends a mail.", func(context.Context, mail) (string, error) {
			time.Sleep(20 * time.Millisecond)
			return "sent", nil
		}, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.If(policy.Tools("send"), policy.Approve(
		func(context.Context, policy.Request) (policy.Decision, error) {
			time.Sleep(60 * time.Millisecond)
			return policy.Decision{Approved: true, By: "ann"}, nil
		})))
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	model := llmtest.New(programs...)
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(t.Context(),
		question{"How much was refunded to all customers? Send the sum to Ann.", 2025})
	if err != nil {
		t.Fatal(err)
	}
	steps := pred.Trajectory.Steps
	for i := range steps { // the scripted model replies at once, and has no name
		steps[i].Model = "openai:gpt-5.1"
		steps[i].Duration += 90 * time.Millisecond
		for j := i + 1; j < len(steps); j++ {
			steps[j].Began = steps[j].Began.Add(90 * time.Millisecond)
		}
	}
	return pred.Trajectory
}

// attack is text that does harm if a page does not escape it.
const attack = "</title></style></script><script>window.canary=1;alert(1)</script><img src=x onerror=\"canary=1\">" +
	"<svg/onload=canary=1><a href=\"javascript:canary=1\" style=\"position:fixed;inset:0\">x</a>" +
	"<iframe src=\"data:text/html,<script>alert(1)</script>\"></iframe><style>@import 'http://127.0.0.1:9/x';</style>" +
	"<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:9\"><base href=//127.0.0.1:9>{{.}}-->]]>'`\\" +
	"\u202e\u2066\u200b\x00\x1b]0;x\x07\x9b31m\U000e0041\xff\u0301"

// hostile returns a trajectory in which every string is an attack. It has huge values and many calls.
func hostile() module.Trajectory {
	huge := strings.Repeat(attack, 10<<20/len(attack))
	quoted, _ := json.Marshal(attack)
	hugeJSON, _ := json.Marshal(map[string]string{attack: huge})
	bad := sandbox.Finding{Kind: attack, Message: attack, Hint: attack, Line: 2, Column: 1, Frame: attack}
	out := &sandbox.Outcome{
		Value: hugeJSON, Stdout: sandbox.Output{Text: huge, Bytes: len(huge)}, Stderr: sandbox.Output{Text: attack},
		Warnings: []sandbox.Finding{bad, {Kind: attack, Message: huge}}, Duration: 5 * time.Second,
		Failure: &sandbox.Failure{Finding: bad, Stack: []string{attack}},
	}
	for i := range 5000 {
		c := sandbox.Call{ID: i + 1, Tool: attack, Args: quoted, Line: 1, Decision: attack,
			Result:  json.RawMessage(`"` + strings.Repeat("x", 500) + `"`),
			Started: time.Duration(i/16) * 15 * time.Millisecond, Duration: 14 * time.Millisecond}
		if i%7 == 0 {
			c.Error = &tools.ToolError{Tool: attack, Kind: attack, Message: attack, Data: quoted}
		}
		out.Calls = append(out.Calls, c)
	}
	for i := range 5 {
		out.Calls[i].Args, out.Calls[i].Result = hugeJSON, json.RawMessage(huge) // the latter is not JSON
	}
	prompt := []llms.MessageContent{
		llms.TextParts(attack, attack), llms.TextParts(llms.ChatMessageTypeHuman, huge),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLContent{URL: "javascript:" + attack}}},
	}
	small := *out
	small.Calls = out.Calls[:50]
	s := module.Step{
		Predictor: attack, Prompt: prompt, Model: attack, FinishReason: attack, Reply: huge, Thinking: attack,
		Reasoning: attack, Code: "/* \u202e */ `${`\n" + attack + "\n" + huge, Outcome: out,
		Observation: attack, Failed: attack,
		Answer: hugeJSON, Schema: quoted, Truncated: true, Duration: time.Second,
		Tools: []llms.Tool{{Function: &llms.FunctionDefinition{Name: attack, Description: attack, Parameters: quoted}}},
	}
	other := s
	other.Outcome = &small
	entry := journal.Entry{ID: attack, Tool: attack, Args: quoted, State: attack, Err: errors.New(attack)}
	t := module.Trajectory{
		Module: attack, Name: attack, Err: errors.New(huge), Fallback: attack, Steps: []module.Step{s, other},
		Calls: []journal.Entry{entry}, Orphans: []journal.Entry{entry}, Evidence: []sandbox.Finding{bad},
		Score: &module.Score{Feedback: attack}, Spent: event.ModelUsage{attack: event.Usage{Calls: 1}},
	}
	within := t
	within.Err = errors.New(attack)
	within.Steps = []module.Step{{Reply: attack, Prompt: prompt[:1]}}
	for range 150 {
		t.Runs = append(t.Runs, within)
	}
	return t
}

type number struct {
	N int `json:"n"`
}

type word struct {
	Word string `json:"word"`
}

var words = strings.Fields("zero one two three four five six seven eight nine")

// student returns a module whose scripted model knows the words that its instructions contain. It does not answer 9.
func student() *module.Predict[number, word] {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := "unknown"
		for n, w := range words {
			if strings.Contains(r.Last(), fmt.Sprintf("## n ## ]]\n%d", n)) && strings.Contains(r.Text(), "know "+w) {
				text = w
			}
		}
		if strings.Contains(r.Last(), "## n ## ]]\n9") {
			return llmtest.Reply{Text: "I do not know."}, nil
		}
		return llmtest.Reply{Text: "[[ ## word ## ]]\n" + text + "\n\n[[ ## completed ## ]]"}, nil
	})
	instructions := "You know zero and know one. Spell the number."
	return module.NewPredict(signature.Must(signature.New[number, word](instructions)), model, nil)
}

func numbers() (list []evaluate.Example[number, word]) {
	for i := range 30 {
		list = append(list, evaluate.Example[number, word]{In: number{i % 10}, Want: word{words[i%10]}})
	}
	return list
}

// spelled gives a part of the score for the first letter.
func spelled(
	_ context.Context, e evaluate.Example[number, word], got *module.Prediction[word],
) (module.Score, error) {
	s := module.Score{Parts: map[string]float64{"letter": 0, "word": 0}}
	if e.Want.Word[0] == got.Output.Word[0] {
		s.Parts["letter"] = 1
	}
	if e.Want == got.Output {
		s.Parts["word"] = 1
	} else {
		s.Feedback = "You should know " + e.Want.Word + ". " + attack
	}
	s.Value = (s.Parts["letter"] + s.Parts["word"]) / 2
	return s, nil
}

// optimized returns an optimization whose reflection model adds some of the words in the feedback.
func optimized(t *testing.T) *optimize.Result[*module.Predict[number, word]] {
	t.Helper()
	turn := 0
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		turn++
		text := "Spell the number. " + attack
		for n, w := range words {
			if strings.Contains(r.Last(), "know "+w) && (n+turn)%4 > 0 {
				text += "\nYou know " + w + "."
			}
		}
		return llmtest.Reply{Text: "<instructions>\n" + text + "\n</instructions>"}, nil
	})
	r, err := optimize.Run(t.Context(), student(), optimize.GEPA{}, optimize.Data[number, word]{
		Train: numbers(), Val: numbers()}, spelled, &optimize.Options{Reflection: reflection,
		Budget: optimize.Budget{StudentCalls: 600, ReflectionCalls: 40}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The pages run no script and request nothing, whatever they contain. Everything can be reached with the keyboard, and
// a phone shows the pages without scrolling to the side.
func TestReports(t *testing.T) {
	t.Parallel()
	evaluated, err := evaluate.Evaluate(t.Context(), student(), numbers(), spelled, nil)
	if err != nil {
		t.Fatal(err)
	}
	evaluated.Results[3].Err = attack
	nested := module.Trajectory{Module: "Predict", Steps: []module.Step{{Reply: "inner"}}}
	for range 30 {
		nested = module.Trajectory{Module: "BestOfN", Runs: []module.Trajectory{nested}}
	}
	options := &report.Options{
		Inputs: question{"How much was refunded to all customers? Send the sum to Ann.", 2025},
		Prices: map[string]budget.Price{"openai:gpt-5.1": {Input: 1.25, Output: 10}},
	}
	run, search := normal(t), optimized(t)
	chain := *search
	for i := range 50 {
		chain.Candidates = append(chain.Candidates, optimize.Candidate{ID: 100 + i, Parents: []int{len(chain.Candidates) - 1}})
	}
	for name, write := range map[string]func(io.Writer) error{
		"run":          func(w io.Writer) error { return report.Write(w, run, options) },
		"hostile":      func(w io.Writer) error { return report.Write(w, hostile(), &report.Options{Title: attack}) },
		"nested":       func(w io.Writer) error { return report.Write(w, nested, nil) },
		"chain":        func(w io.Writer) error { return report.WriteOptimization(w, &chain, nil) },
		"evaluation":   func(w io.Writer) error { return report.WriteEvaluation(w, evaluated, nil) },
		"optimization": func(w io.Writer) error { return report.WriteOptimization(w, search, nil) },
	} {
		t.Run(name, func(t *testing.T) { // one after the other, since each of them occupies the machine
			checkReport(t, name, write)
		})
	}
}

func checkReport(t *testing.T, name string, render func(io.Writer) error) {
	var html bytes.Buffer
	began := time.Now()
	if err := render(&html); err != nil {
		t.Fatal(err)
	}
	written := time.Since(began)
	if html.Len() > 25<<20 {
		t.Errorf("the page has %d bytes", html.Len())
	}
	b, url := launch(t), write(t, html.String())
	began = time.Now()
	b.screen(1200, 900, "light")
	b.open(url)
	eval[int](b, `document.body.offsetHeight`)
	t.Logf("%d bytes, written in %v and shown after %v", html.Len(), written, time.Since(began))
	b.screenshot(name + "-light")
	checkKeyboard(b)
	b.screen(1200, 900, "dark")
	b.screenshot(name + "-dark")
	b.screen(390, 844, "light")
	b.screenshot(name + "-phone")
	eval[int](b, `[...document.querySelectorAll("details")].slice(0, 100).forEach(d => d.open = true), 0`)
	if width := eval[int](b, `document.documentElement.scrollWidth`); width > 390 {
		t.Errorf("the page is %d pixels wide on a phone", width)
	}
	b.screenshot(name + "-open")
	b.checkQuiet(url)
}

// checkQuiet checks that the page ran no script, and requested nothing but itself.
func (b *browser) checkQuiet(url string) {
	b.t.Helper()
	if eval[bool](b, `"canary" in window || document.scripts.length > 0 || location.href != "`+url+`"`) {
		b.t.Error("the page runs a script")
	}
	const foreign = `document.querySelectorAll("[style],[src],iframe,object,embed,base,form,link").length`
	if n := eval[int](b, foreign); n > 0 {
		b.t.Errorf("the page has %d elements from text", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 || !slices.Equal(b.requests, []string{url}) {
		b.t.Errorf("trouble: %q, requests: %q", b.trouble, b.requests)
	}
}

// checkKeyboard checks that the first links and folds can be reached with the Tab key, in the order of the page, and
// that the Enter key opens folds.
func checkKeyboard(b *browser) {
	b.t.Helper()
	want := min(40, eval[int](b, `(reachable =
		[...document.querySelectorAll("a, summary")].filter(e => e.checkVisibility())).length`))
	for i := range want {
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)); err != nil {
			b.t.Fatal(err)
		}
		if !eval[bool](b, fmt.Sprintf(`document.activeElement === reachable[%d]`, i)) {
			b.t.Fatalf("Tab %d does not lead to link or fold %d of %d", i+1, i+1, want)
		}
	}
	eval[int](b, `reachable.find(e => e.localName == "summary" && !e.parentElement.open).focus(), 0`)
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
		b.t.Fatal(err)
	}
	if !eval[bool](b, `document.activeElement.parentElement.open`) {
		b.t.Error("Enter does not open a fold")
	}
}
