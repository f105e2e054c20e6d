package student

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
)

// Claims is a pipeline of two steps, one of which is at fault. The first step finds the facts in the message of a
// customer, and is right by itself. The second step decides by rules of the house, which it does not know. The feedback
// is about the decision. If the first step is told the rules, it sometimes notes the decision in place of the reason.
type Claims struct{}

// A claim is a reason for which customers write, with what the house does about it.
type claim struct {
	message, reason, action string
	Skill                   // the rule, and how often the student follows it by itself
}

var claimRules = []claim{
	newClaim("it arrived with a crack", "damaged", "replacement", 0.5),
	newClaim("it came two weeks after the date", "delayed", "voucher", 0.4),
	newClaim("I ordered another article", "mistaken", "courier", 0.45),
	newClaim("it is two sizes too small", "misfitting", "exchange", 0.5),
	newClaim("the screws are not in the box", "incomplete", "parcel", 0.4),
	newClaim("I have changed my mind", "regretted", "label", 0.45),
}

func newClaim(message, reason, action string, alone float64) claim {
	return claim{message, reason, action, Skill{
		Kind: reason, Keys: []string{reason, action}, Alone: alone,
		Rule: fmt.Sprintf("If an article is %s, the decision is: %s.", reason, action),
	}}
}

// channelRule says how the customer is told.
var channelRule = Skill{
	Kind: "channel", Keys: []string{"members", "phone"}, Alone: 0.75,
	Rule: "Members are told by phone, and others by mail.",
}

// The ways in which a student that does not know the rules fails, and how often it mixes up its two steps.
const (
	usualAction = "refund"
	mixesUp     = 0.3
)

// Title returns the name of the task.
func (Claims) Title() string { return "claims" }

// Instructions returns the instructions of the steps at the beginning.
func (Claims) Instructions() []string {
	return []string{"Find the facts of the message.", "Decide what we do."}
}

// Calls returns the number of calls in a run.
func (Claims) Calls() int { return 2 }

// Rows makes n examples.
func (Claims) Rows(seed uint64, n int) []Row {
	r := rand.New(rand.NewPCG(seed, 21))
	rows := make([]Row, n)
	for i := range rows {
		c := claimRules[r.IntN(len(claimRules))]
		kind := pick(r, "member guest")
		rows[i] = Row{
			ID: fmt.Sprintf("claims-%d-%d", seed, i+1),
			Request: fmt.Sprintf("I am a %s. My %s of order %d for %d EUR: %s.",
				kind, pick(r, "kettle lamp chair jacket shelf desk tent bag"),
				10000+r.IntN(90000), 10+r.IntN(300), c.message),
			Answer: c.action + ", " + channelOf(kind),
		}
	}
	return rows
}

func channelOf(kind string) string {
	if kind == "member" {
		return "phone"
	}
	return "mail"
}

// Feedback explains the parts of a decision that are wrong.
func (Claims) Feedback(row Row, answer string) string {
	var words []string
	wantAction, wantChannel, _ := strings.Cut(row.Answer, ", ")
	action, channel, _ := strings.Cut(answer, ", ")
	if c := claimIn(row.Request); action != wantAction {
		words = append(words, c.Rule)
	}
	if channel != wantChannel {
		words = append(words, channelRule.Rule)
	}
	return strings.Join(words, " ")
}

// claimIn returns the claim that a message or a list of facts is about, or nil.
func claimIn(text string) *claim {
	for i, c := range claimRules {
		if strings.Contains(text, c.message) || strings.Contains(text, "reason: "+c.reason) {
			return &claimRules[i]
		}
	}
	return nil
}

// Model returns the student.
func (Claims) Model() llms.Model {
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		field, answer := "answer", decide
		if strings.Contains(r.Last(), marker("request")) {
			field, answer = "facts", findFacts
		}
		text := answer(r, fmt.Sprint(lm.Rollout(ctx)))
		return llmtest.Reply{Text: marker(field) + "\n" + text + "\n\n" + marker("completed")}, nil
	})
}

var order = regexp.MustCompile(`I am a (\w+)\. My (\w+) of order (\d+) for (\d+) EUR`)

// findFacts is the first step.
func findFacts(r llmtest.Request, rollout string) string {
	system, dialogues := dialoguesOf(r.Messages, "request")
	message := value(r.Last(), "request")
	c, f := claimIn(message), order.FindStringSubmatch(message)
	reason := c.reason
	isTold := channelRule.stated(system)
	for i := range claimRules {
		isTold = isTold || claimRules[i].stated(system)
	}
	if isTold && chance(system, fmt.Sprint(dialogues), message, rollout) < mixesUp {
		reason = c.action
	}
	return fmt.Sprintf("customer: %s; article: %s; order: %s; price: %s; reason: %s", f[1], f[2], f[3], f[4], reason)
}

// decide is the second step.
func decide(r llmtest.Request, rollout string) string {
	system, dialogues := dialoguesOf(r.Messages, "facts")
	learned := map[string]int{}
	for _, d := range dialogues[:len(dialogues)-1] {
		learnClaim(learned, value(d[0], "facts"), value(d[1], "answer"))
	}
	facts := value(r.Last(), "facts")
	knows := func(k *Skill) bool {
		return chance(system, fmt.Sprint(dialogues), facts, k.Kind, rollout) < k.skilled(system, learned[k.Kind])
	}
	action, channel := usualAction, channelOf(customerIn(facts))
	if c := claimIn(facts); c != nil && knows(&c.Skill) {
		action = c.action
	}
	if !knows(&channelRule) {
		channel = map[string]string{"phone": "mail", "mail": "phone"}[channel]
	}
	return action + ", " + channel
}

// learnClaim counts what a demo of the second step shows.
func learnClaim(learned map[string]int, facts, answer string) {
	step := map[bool]int{true: 1, false: -1}
	action, channel, _ := strings.Cut(answer, ", ")
	if c := claimIn(facts); c != nil {
		learned[c.Kind] += step[action == c.action]
	}
	learned[channelRule.Kind] += step[channel == channelOf(customerIn(facts))]
}

func customerIn(facts string) string {
	_, rest, _ := strings.Cut(facts, "customer: ")
	kind, _, _ := strings.Cut(rest, ";")
	return kind
}

// dialoguesOf returns the system prompt, and the dialogues that follow it: the demos and, at the end, the question. A
// dialogue begins with a message that has the field.
func dialoguesOf(messages []llms.MessageContent, field string) (system string, dialogues [][]string) {
	for _, m := range messages {
		text := textOf(m)
		switch {
		case m.Role == llms.ChatMessageTypeSystem:
			system += text
		case strings.Contains(text, marker(field)) && m.Role == llms.ChatMessageTypeHuman:
			dialogues = append(dialogues, []string{text})
		default:
			dialogues[len(dialogues)-1] = append(dialogues[len(dialogues)-1], text)
		}
	}
	return system, dialogues
}

// Reflection returns a model that knows only what its prompt shows: rules that the prompt states, and rules that pairs
// of reasons and decisions show. Asked which step is at fault, it compares the facts with the messages.
func (Claims) Reflection() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		prompt := r.Last()
		if strings.Contains(prompt, "Which step caused the wrong answers") {
			return llmtest.Reply{Text: stepAtFault(prompt)}, nil
		}
		var rules []string
		examples := examplesIn(prompt)
		for i := range claimRules {
			c := &claimRules[i]
			shown := 0
			for _, e := range examples {
				if claimIn(e) == c && strings.Contains(e, `"`+c.action+", ") {
					shown++
				}
			}
			rules = c.noticed(rules, prompt, shown)
		}
		shown := 0
		for _, e := range examples {
			isMember := strings.Contains(e, "I am a member.") || strings.Contains(e, "customer: member;")
			isPhone := strings.Contains(e, `, phone"`)
			if isMember == isPhone && strings.Contains(e, `, mail"`) != isPhone {
				shown++
			}
		}
		rules = channelRule.noticed(rules, prompt, shown)
		return written(prompt, "Do what the step asks for.", rules), nil
	})
}

// noticed adds the rule to the list if the reflection model notices it: if the prompt states it, or if a number of
// examples show it.
func (k *Skill) noticed(rules []string, prompt string, shown int) []string {
	sure := induces[min(shown, len(induces)-1)]
	if k.stated(prompt) {
		sure = states
	}
	if chance("reflection", prompt, k.Rule) < sure {
		rules = append(rules, k.Rule)
	}
	return rules
}

// written returns the reply of a reflection model that has found these rules.
func written(prompt, first string, rules []string) llmtest.Reply {
	if len(rules) == 0 {
		rules = []string{advice[int(chance("advice", prompt)*float64(len(advice)))]}
	}
	text := strings.Join(append([]string{first}, rules...), "\n- ")
	if strings.Contains(prompt, "<instructions>") {
		text = "<instructions>\n" + text + "\n</instructions>"
	}
	return llmtest.Reply{Text: text}
}

var exampleTag = regexp.MustCompile(`(?s)<example-\d+>.*?</example-\d+>`)

// examplesIn returns the examples that a prompt shows.
func examplesIn(prompt string) []string { return exampleTag.FindAllString(prompt, -1) }

// guesses is how often the reflection model names the wrong step.
const guesses = 0.15

// stepAtFault names the first step if the facts of at least half of the examples do not have the reason in the message,
// and otherwise the second.
func stepAtFault(prompt string) string {
	examples, wrong := examplesIn(prompt), 0
	for _, e := range examples {
		if c := claimIn(e); c != nil && !strings.Contains(e, "reason: "+c.reason) {
			wrong++
		}
	}
	isFirst := 2*wrong >= len(examples)
	if chance("fault", prompt) < guesses {
		isFirst = !isFirst
	}
	if isFirst {
		return "Find"
	}
	return "Write"
}
