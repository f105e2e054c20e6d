package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type lookup struct {
	ID string `json:"id"`
}

// servePlayground serves the page of an agent with a tool that needs approval, and one that returns an attack. The
// model gives its last reply after last is closed. A person is asked about holds. It returns the page's URL.
func servePlayground(t *testing.T, last <-chan struct{}, replies ...string) string {
	t.Helper()
	set, err := tools.NewSet(t.Context(),
		tools.Func("order", "Returns an order.", func(_ context.Context, in lookup) (map[string]string, error) {
			return map[string]string{"id": in.ID, "remark": attack}, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("refund", "Refunds an amount.", func(_ context.Context, in amount) (string, error) {
			return fmt.Sprint("refunded ", in.Amount), nil
		}, &tools.Hints{Class: tools.Effect, Destructive: true}))
	if err != nil {
		t.Fatal(err)
	}
	if replies == nil {
		replies = scripted(t)
	}
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := replies[min(r.N, len(replies))-1]
		if r.N == len(replies) {
			select {
			case <-last:
			case <-ctx.Done():
			}
		}
		return llmtest.Reply{Text: text, Chunks: strings.SplitAfter(text, " ")}, nil
	})
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	runs.AskHolds = true
	p := playground.New(runs, bot, &playground.Options{Note: "The model is scripted.",
		Example: "Refund the order o-17 if it has arrived broken."})
	r, w := io.Pipe()
	ended := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- p.Serve(ctx, "127.0.0.1:0", w) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// scripted returns the replies of a run with an attack.
func scripted(t *testing.T) []string {
	t.Helper()
	quoted, err := json.Marshal(attack)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"I look at the orders at once.\n\n```js\n" +
			"const all = await Promise.all([\"o-17\", \"o-18\"].map(id => order({ id })));\n" +
			"console.log(all[0].remark);\nall.length\n```",
		"The customer is right: " + attack + "\n\n```js\nawait refund({ amount: 59.9 });\nsubmit({ answer: " +
			string(quoted) + " + \"The customer has the money.\" })\n```",
	}
}

// until waits until a JavaScript expression is true in the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	for begin := time.Now(); !eval[bool](b, expression); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			b.t.Fatalf("it does not become true: %s\n%s", expression, eval[string](b, `document.body.innerText`))
		}
	}
}

// keys types keys.
func (b *browser) keys(keys string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
		b.t.Fatal(err)
	}
}

const (
	stepsText = `[...document.querySelectorAll(".step")].map(s => s.textContent).join("|")`
	pageText  = `document.querySelector("main").textContent`
)

// A run with an approval, a reload in mid-run, and two tabs, with text from an attacker in what the page shows.
func TestPlayground(t *testing.T) {
	t.Parallel()
	last := make(chan struct{})
	url := servePlayground(t, last)
	a := launch(t)
	a.screen(1200, 900, "light")
	a.open(url)
	a.until(`document.querySelector("#task").value != ""`)
	a.screenshot("playground-empty")
	eval[int](a, `document.querySelector("#task").focus(), 0`)
	a.keys(kb.Tab) // to the button
	a.keys(kb.Enter)
	a.until(`document.querySelectorAll(".step").length == 2`)
	a.until(`!!document.querySelector("#stop")`)
	a.screenshot("playground-running")

	before := eval[string](a, stepsText)
	a.open("about:blank")
	a.open(url)
	a.until(`document.querySelectorAll(".step").length == 2`)
	if after := eval[string](a, stepsText); after != before {
		t.Errorf("after the reload, the steps are\n%s\nbefore:\n%s", after, before)
	}

	close(last)
	b := launch(t)
	b.screen(390, 844, "dark")
	b.open(url)
	for _, tab := range []*browser{a, b} {
		tab.until(`document.querySelectorAll(".decision, .step").length == 3`)
	}
	if one, two := eval[string](a, pageText), eval[string](b, pageText); one != two {
		t.Errorf("the tabs show\n%s\nand\n%s", one, two)
	}
	a.screenshot("playground-approval-light")
	a.screen(1200, 900, "dark")
	a.screenshot("playground-approval-dark")
	b.screenshot("playground-approval-phone")
	b.narrow()
	eval[int](a, `document.querySelector(".decision button.main").click(), 0`)
	for _, tab := range []*browser{a, b} {
		tab.until(`document.querySelectorAll(".step").length == 2`)
		tab.until(`document.querySelector(".answer")?.textContent.includes("The customer has the money.") ?? false`)
	}
	if one, two := eval[string](a, pageText), eval[string](b, pageText); one != two {
		t.Errorf("at the end, the tabs show\n%s\nand\n%s", one, two)
	}
	for _, tab := range []*browser{a, b} {
		eval[int](tab, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
		if !strings.Contains(eval[string](tab, pageText), "<script>window.canary=1") {
			t.Error("the page does not show the attack")
		}
	}
	a.screenshot("playground-done-dark")
	b.screenshot("playground-done-phone")
	b.narrow()
	a.checkHarmless(url)
	b.checkHarmless(url)
}

// A person changes the arguments of a call, and refuses another call.
func TestPlaygroundDecisions(t *testing.T) {
	t.Parallel()
	last := make(chan struct{})
	close(last)
	b := launch(t)
	b.open(servePlayground(t, last))
	run := func() {
		t.Helper()
		eval[int](b, `document.querySelector("form button").click(), 0`)
		b.until(`(testForm = document.querySelector(".decision")) != null && testForm != window.testDecided`)
		eval[int](b, `window.testDecided = testForm, 0`)
	}
	approve := func(args string) {
		t.Helper()
		eval[int](b, `testForm.querySelector("textarea").value = '`+args+`', 0`)
		eval[int](b, `testForm.querySelector("button.main").click(), 0`)
	}
	run()
	approve(`{"amount": `)
	b.until(`testForm.querySelector("[role=alert]").checkVisibility()`)
	approve(`{"amount": 7.25}`)
	b.until(`document.querySelector(".answer") != null`)
	b.until(pageText + `.includes("refunded 7.25")`)
	b.until(stepsText + `.includes('Arguments as requested{\n  "amount": 59.9\n}Arguments as performed{\n  "amount": 7.25\n}')`)
	if n := eval[int](b, stepsText+`.split("Arguments{").length - 1`); n != 2 {
		t.Errorf("%d calls have the arguments that were requested", n)
	}
	eval[int](b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
	b.screenshot("playground-changed")

	run()
	eval[int](b, `testForm.querySelector("input").focus(), 0`)
	b.keys("Not today.")
	b.keys(kb.Tab + kb.Tab + kb.Enter) // the button after Approve
	b.until(pageText + `.includes("Not today.")`)
	b.until(`document.querySelectorAll("nav li").length == 2`)
	eval[int](b, `document.querySelectorAll("nav a")[1].click(), 0`)
	b.until(`document.querySelector(".answer") != null`)
}

// A call resembles an earlier one. The page shows both, and the person says that it is another one.
func TestPlaygroundHold(t *testing.T) {
	t.Parallel()
	last := make(chan struct{})
	close(last)
	url := servePlayground(t, last, "```js\nawait refund({ amount: 59.9 });\nthrow new Error(\"it failed\")\n```",
		"I refund the rest.\n\n```js\nawait refund({ amount: 10.1 });\nsubmit({ answer: \"Both are refunded.\" })\n```")
	b := launch(t)
	b.screen(1200, 900, "light")
	b.open(url)
	b.until(`document.querySelector("#task").value != ""`)
	decide := func(button string) {
		t.Helper()
		b.until(`[...document.querySelectorAll(".decision button")].some(b => b.textContent == "` + button + `")`)
	}
	click := func(button string) {
		t.Helper()
		decide(button)
		eval[int](b, `[...document.querySelectorAll(".decision button")].find(b => b.textContent == "`+button+`").click(), 0`)
	}
	eval[int](b, `document.querySelector("form button").click(), 0`)
	click("Approve")
	decide("It is E1: take its result")
	if text := eval[string](b, `document.querySelector(".decision").textContent`); !strings.Contains(text, "Arguments{\n  \"amount\": 10.1") ||
		!strings.Contains(text, "E1 refund, which is done{\n  \"amount\": 59.9\n}\n→ refunded 59.9") {
		t.Errorf("the question is %s", text)
	}
	b.screenshot("playground-hold-light")
	b.screen(1200, 900, "dark")
	b.screenshot("playground-hold-dark")
	b.screen(390, 844, "dark")
	b.screenshot("playground-hold-phone")
	b.narrow()
	click("Make this call, too")
	click("Approve")
	b.until(`document.querySelector(".answer")?.textContent.includes("Both are refunded.") ?? false`)
	if text := eval[string](b, stepsText); !strings.Contains(text, "refunded 10.1") {
		t.Errorf("the steps are %s", text)
	}
	b.checkHarmless(url)
}

// narrow checks that the page fits a phone.
func (b *browser) narrow() {
	b.t.Helper()
	if width := eval[int](b, `document.documentElement.scrollWidth`); width > 390 {
		b.t.Errorf("the page is %d pixels wide on a phone", width)
	}
}

// checkHarmless checks that the page ran no script but its own, and requested nothing from elsewhere.
func (b *browser) checkHarmless(url string) {
	b.t.Helper()
	if eval[bool](b, `"canary" in window || document.scripts.length != 1`) {
		b.t.Error("the page runs another script")
	}
	const injected = `"main :is([style], [src], iframe, object, embed, base, form, link, svg, img)"`
	if n := eval[int](b, `document.querySelectorAll(`+injected+`).length`); n > 0 {
		b.t.Errorf("the page has %d elements from text", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, url) && r != "data:," && r != "about:blank" {
			b.t.Errorf("the page requests %s", r)
		}
	}
	if len(b.trouble) > 0 {
		b.t.Errorf("trouble: %q", b.trouble)
	}
}
