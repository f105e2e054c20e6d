package student

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// Ledger is an agent that writes programs. It answers what a customer owes, with three tools. The first program looks
// things up, and the second one computes the answer. The student misuses the tools unless its instructions have the
// facts about them, or its demos are whole runs: calls, results and the answer.
type Ledger struct{}

// What there is to know about the tools. The declarations say two of these facts, but the student overlooks them. The
// feedback says one, and only the results of calls show that customers are found by their family names.
var (
	byFamily = Skill{Kind: "family", Keys: []string{"family name", "capital"}, Alone: 0.5,
		Rule: "Look up customers by the family name alone, in capital letters."}
	inCents = Skill{Kind: "cents", Keys: []string{"divide", "amounts", "by 100"}, Alone: 0.45,
		Rule: "Divide the amounts of invoices by 100, since they are in cents."}
	isVoid = Skill{Kind: "void", Keys: []string{"invoices", "state v", "not owed"}, Alone: 0.5,
		Rule: "Invoices in state V are void and not owed."}
	per100 = Skill{Kind: "rate", Keys: []string{"multiply", "by 100", "rate"}, Alone: 0.5,
		Rule: "To convert euros, multiply by 100 and divide by the rate."}
)

// The arguments and results of the tools.
type (
	customerName struct {
		Name string `json:"name"`
	}
	customer struct {
		ID string `json:"id"`
	}
	customerID struct {
		Customer string `json:"customer"`
	}
	invoice struct {
		Number int    `json:"number"`
		Amount int    `json:"amount"`
		State  string `json:"state"`
	}
	currency struct {
		Currency string `json:"currency"`
	}
)

// Tools returns the tools of the agent.
func (Ledger) Tools(ctx context.Context) (*tools.Set, error) {
	read := &tools.Hints{Class: tools.Read}
	return tools.NewSet(ctx,
		tools.Func("customers", "Finds customers by name.",
			func(_ context.Context, n customerName) ([]customer, error) {
				if strings.ContainsAny(n.Name, " abcdefghijklmnopqrstuvwxyz") {
					return []customer{}, nil
				}
				return []customer{{"C-" + n.Name}}, nil
			}, read),
		tools.Func("invoices", "Lists the invoices of a customer. Amounts are in cents.",
			func(_ context.Context, c customerID) ([]invoice, error) { return invoicesOf(c.Customer), nil }, read),
		tools.Func("rate", "Returns how many euros 100 units of a currency are worth.",
			func(_ context.Context, c currency) (float64, error) { return rates[c.Currency], nil }, read))
}

var rates = map[string]float64{"USD": 92, "SEK": 9.1, "CHF": 105, "NOK": 8.5}

// invoicesOf returns the invoices of a customer, which depend only on the ID.
func invoicesOf(id string) []invoice {
	sum := sha256.Sum256([]byte(id))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), 22))
	list := make([]invoice, 2+r.IntN(3))
	for i := range list {
		list[i] = invoice{Number: 1 + i, Amount: 1000 + r.IntN(90000), State: pick(r, "O O V")}
	}
	return list
}

// Title returns the name of the task.
func (Ledger) Title() string { return "ledger" }

// Calls returns the number of calls in a run.
func (Ledger) Calls() int { return 2 }

// Instructions returns the instructions at the beginning.
func (Ledger) Instructions() []string { return []string{"Find out what the customer owes us."} }

// Rows makes n examples.
func (Ledger) Rows(seed uint64, n int) []Row {
	r := rand.New(rand.NewPCG(seed, 23))
	rows := make([]Row, n)
	for i := range rows {
		family := pick(r, "Bel Cor Dan Fer Gal Hol Jan Kar Lom Mer") + pick(r, "ba di fo ga lu mi na po ra ti") +
			pick(r, "ck dt ll mer n ns r rg ss tz")
		to := pick(r, "EUR EUR EUR EUR USD SEK CHF NOK")
		rows[i] = Row{
			ID: fmt.Sprintf("ledger-%d-%d", seed, i+1),
			Request: fmt.Sprintf("What does %s %s owe us in %s?",
				pick(r, "Ada Ben Eva Ian Lea Max Pia Tom"), family, to),
			Answer: fmt.Sprintf("%.2f %s", owed(invoicesOf("C-"+strings.ToUpper(family)), to), to),
		}
	}
	return rows
}

func owed(list []invoice, to string) float64 {
	sum := 0.0
	for _, i := range list {
		if i.State != "V" {
			sum += float64(i.Amount)
		}
	}
	if to != "EUR" {
		return sum / 100 * 100 / rates[to]
	}
	return sum / 100
}

// Feedback says that void invoices are not owed, if the customer has any.
func (Ledger) Feedback(row Row, _ string) string {
	family, _ := askedFor(row.Request)
	for _, i := range invoicesOf("C-" + strings.ToUpper(family)) {
		if i.State == "V" {
			return isVoid.Rule
		}
	}
	return ""
}

var debt = regexp.MustCompile(`What does \w+ (\w+) owe us in (\w+)\?`)

// askedFor returns the family name and the currency in a question.
func askedFor(question string) (family, to string) {
	m := debt.FindStringSubmatch(question)
	return m[1], m[2]
}

// Model returns the student.
func (Ledger) Model() llms.Model {
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		system, dialogues := dialoguesOf(r.Messages, "request")
		demos, run := dialogues[:len(dialogues)-1], dialogues[len(dialogues)-1]
		learned := map[string]int{}
		for _, d := range demos {
			learnRun(learned, d)
		}
		question := value(run[0], "request")
		knows := func(k *Skill) bool {
			return chance(system, fmt.Sprint(demos), question, k.Kind, fmt.Sprint(lm.Rollout(ctx))) <
				k.skilled(system, learned[k.Kind])
		}
		if len(run) == 1 {
			return llmtest.Reply{Text: "I look things up.\n```js\n" + lookUp(question, knows) + "\n```"}, nil
		}
		return llmtest.Reply{Text: "I compute the answer.\n```js\n" + compute(question, run[len(run)-1], knows) +
			"\n```"}, nil
	})
}

// lookUp writes the first program of a run.
func lookUp(question string, knows func(*Skill) bool) string {
	name := strings.TrimPrefix(question, "What does ")
	name = name[:strings.Index(name, " owe us")]
	family, to := askedFor(question)
	if knows(&byFamily) {
		name = strings.ToUpper(family)
	}
	rate := "1"
	if to != "EUR" {
		rate = fmt.Sprintf("await rate({currency: %q})", to)
	}
	return fmt.Sprintf(`const found = await customers({name: %q});
const list = found.length > 0 ? await invoices({customer: found[0].id}) : [];
console.log(JSON.stringify({found, list, rate: %s}));`, name, rate)
}

// compute writes the second program of a run, from the output of the first one.
func compute(question, observation string, knows func(*Skill) bool) string {
	var seen struct {
		Found []customer
		List  json.RawMessage
		Rate  float64
	}
	_, output, _ := strings.Cut(observation, `{"found"`)
	output, _, _ = strings.Cut(`{"found"`+output, "\n")
	if json.Unmarshal([]byte(output), &seen) != nil || len(seen.Found) == 0 {
		return `submit({answer: "unknown"});`
	}
	list, sum := "list", "sum"
	if knows(&isVoid) {
		list += `.filter(i => i.state !== "V")`
	}
	if knows(&inCents) {
		sum += " / 100"
	}
	_, to := askedFor(question)
	if to != "EUR" {
		if knows(&per100) {
			sum += " * 100"
		}
		sum += fmt.Sprintf(" / %g", seen.Rate)
	}
	return fmt.Sprintf(`const list = %s;
const sum = %s.reduce((total, i) => total + i.amount, 0);
submit({answer: (%s).toFixed(2) + " %s"});`, seen.List, list, sum, to)
}

var found = regexp.MustCompile(`customers\(\{name: "([A-Z]+)"\}\)`)

// learnRun counts what a demo shows: it must have the calls, their results, and the program that answers.
func learnRun(learned map[string]int, demo []string) {
	last := demo[len(demo)-1]
	if len(demo) < 4 || !strings.Contains(last, "submit(") {
		return
	}
	step := map[bool]int{true: 1, false: -1}
	learned[byFamily.Kind] += step[found.MatchString(demo[1]) && strings.Contains(demo[2], `"id"`)]
	learned[inCents.Kind] += step[strings.Contains(last, "sum / 100")]
	if strings.Contains(last, `"state":"V"`) {
		learned[isVoid.Kind] += step[strings.Contains(last, `!== "V"`)]
	}
	if _, to := askedFor(value(demo[0], "request")); to != "EUR" {
		learned[per100.Kind] += step[strings.Contains(last, "* 100 /")]
	}
}

// Reflection returns a model that knows only what its prompt shows: what the feedback and the declarations say, and
// what calls with results and programs with right answers have in common.
func (Ledger) Reflection() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		prompt := r.Last()
		var rules []string
		rules = byFamily.noticed(rules, prompt, count(prompt, `customers\(\{\\?"?name\\?"?: ?\\?"([A-Z]+)\\?"\}\)`))
		rules = isVoid.noticed(rules, prompt, count(prompt, `\.state !== \\?"V`))
		declared := func(text string, shown int) int {
			if strings.Contains(prompt, text) {
				return len(induces) - 1
			}
			return shown
		}
		rules = inCents.noticed(rules, prompt, declared("Amounts are in cents.", count(prompt, `sum / 100`)))
		rules = per100.noticed(rules, prompt, declared("100 units of a currency", count(prompt, `100 \* 100 / [\d.]+`)))
		return written(prompt, "Find out what the customer owes us.", rules), nil
	})
}

// count returns the number of places where a text matches an expression. Places with the same group count once.
func count(text, expression string) int {
	n, groups := 0, map[string]bool{}
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		group := strings.Join(m[1:], "")
		if !groups[group] {
			n++
		}
		groups[group] = group != ""
	}
	return n
}
