package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
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
		"const all = await Promise.all([\"c1\", \"c2\", \"c3\", \"c4\", \"c5\", \"c6\"].map(id => refunds({ id })));\n" +
		"const total = all.reduce((sum, r) => sum + r.amount, 0);\n" +
		"await send({ to: \"ann@example.com\", text: `Refunds in ${year}: ${total}` });\n" +
		"submit({ summary: \"Refunds were sent to Ann.\", total })\n```",
}

// normal returns the trajectory of a run with a rejected program, parallel calls, a caught error and an approval.
func normal(t *testing.T) module.Trajectory {
	t.Helper()
	set, err := tools.NewSet(t.Context(),
		tools.Func("refunds", "Returns the refunds of a customer.", func(_ context.Context, c customer) (amount, error) {
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

func page2(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDemo(t *testing.T) {
	b := launch(t)
	tr := normal(t)
	url := write(t, page2(t, func(w io.Writer) error {
		return report.Write(w, tr, &report.Options{Prices: map[string]models.Price{"openai:gpt-5.1": {Input: 1.25, Output: 10}}, Currency: "$"})
	}))
	for _, s := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"light", 1200, 900, "light"}, {"dark", 1200, 900, "dark"}, {"phone", 390, 844, "light"}} {
		b.screen(s.width, s.height, s.scheme)
		b.open(url)
		b.screenshot("run-" + s.name)
	}
	t.Log(b.trouble)
}

var (
	_ = json.Marshal
	_ = fmt.Sprint
	_ = os.Getenv
	_ = filepath.Join
	_ = slices.Max[[]int]
	_ = strings.Repeat
	_ = chromedp.KeyEvent
	_ = kb.Tab
	_ llms.Tool
	_ evaluate.Report
	_ event.Usage
	_ optimize.Spent
	_ journal.Entry
)
