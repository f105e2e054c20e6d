package faults

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// people get a mail each, and the last step creates a ticket.
var people = []string{"ann", "bob", "cid", "dan"}

// draft is a program that a model writes.
type draft struct {
	people    []string
	text      string
	bug       int  // the number of mails after which the program throws, or -1
	batch     bool // sends all mails at once
	listFirst bool
	setFirst  bool   // sets a flag with an idempotent tool
	take      bool   // reads what is in stock, and then sets what is left
	taken     string // the entry with which the stock was set, if the model names it
	open      bool   // does not answer
	wrong     bool   // submits an answer that is not valid
	repeated  string // the tool whose calls have the second argument
	second    string
}

// again returns the second argument for the calls of a tool.
func (d draft) again(tool string) string {
	if tool != d.repeated {
		return ""
	}
	return d.second
}

// afterHold is the subject of a ticket that a program creates if it can catch a hold.
const afterHold = "went on"

const goingOn = `async function deliver(to, send) {
  try { return await send(); } catch (e) {
    if (e.kind === "denied") await tickets.create({to: "` + afterHold + `"});
    throw e;
  }
}
`

// source returns the program.
func (d draft) source() string {
	send := fmt.Sprintf("deliver(to, () => mail.send({to, text: %q}%s))", d.text, d.again("mail.send"))
	var b strings.Builder
	fmt.Fprintf(&b, "const people = %q.split(\" \");\nconst sent = [];\n"+goingOn, strings.Join(d.people, " "))
	if d.setFirst {
		b.WriteString("await flags.set({to: \"busy\", text: \"yes\"});\n")
	}
	if d.take {
		same := ""
		if d.taken != "" {
			same = fmt.Sprintf(", {same: %q}", d.taken)
		}
		fmt.Fprintf(&b, "const left = await stock.get({});\n"+
			"await stock.set({to: \"shelf\", text: String(left - 10)}%s);\n", same)
	}
	if d.listFirst {
		b.WriteString("const known = await mail.list({});\n")
		send = "known.includes(to) ? 0 : await " + send
	} else {
		send = "await " + send
	}
	switch {
	case d.batch:
		fmt.Fprintf(&b, "sent.push(...await Promise.all(people.map(async to => %s)));\n", send)
	default:
		b.WriteString("for (const to of people) {\n")
		if d.bug >= 0 {
			fmt.Fprintf(&b, "  if (sent.length === %d) null.x;\n", d.bug)
		}
		fmt.Fprintf(&b, "  sent.push(%s);\n}\n", send)
	}
	switch {
	case d.open:
		b.WriteString("console.log(sent)")
	case d.wrong:
		b.WriteString("submit({answer: {sent}})")
	default:
		fmt.Fprintf(&b, "await tickets.create({to: \"audit\"}%s);\nsubmit({answer: people.map((p, i) => p + sent[i]).join()})",
			d.again("tickets.create"))
	}
	return "```js\n" + b.String() + "\n```"
}

// rewrites are the ways in which models rewrite a program that failed: the programs that they write, one after another.
// The last one is repeated.
var rewrites = map[string]func(r *rand.Rand) []draft{
	"same": func(r *rand.Rand) []draft { return []draft{failing(r), whole()} },
	"reordered": func(r *rand.Rand) []draft {
		d := whole()
		d.people = slices.Clone(people)
		slices.Reverse(d.people)
		return []draft{failing(r), d}
	},
	"split": func(r *rand.Rand) []draft {
		first, second := whole(), whole()
		first.people, first.open, second.people = people[:2], true, people[2:]
		return []draft{failing(r), first, second}
	},
	"rebatched": func(r *rand.Rand) []draft {
		d := whole()
		d.batch = true
		return []draft{failing(r), d}
	},
	"changed text": func(r *rand.Rand) []draft {
		d := whole()
		d.text = "hello"
		return []draft{failing(r), d}
	},
	"list-first": func(r *rand.Rand) []draft {
		first, d := failing(r), whole()
		first.listFirst, d.listFirst = true, true
		return []draft{first, d}
	},
	"continuation": func(r *rand.Rand) []draft {
		d := whole()
		d.people = nil // those who are not named as done
		return []draft{failing(r), d}
	},
	"rejected answer": func(*rand.Rand) []draft {
		d := whole()
		d.wrong = true
		return []draft{d, whole()}
	},
	"sub-agent": func(r *rand.Rand) []draft { return []draft{failing(r), whole()} },
	"ReAct":     func(*rand.Rand) []draft { return []draft{whole()} },
	"three attempts": func(r *rand.Rand) []draft {
		first, second := failing(r), failing(r)
		return []draft{first, second, whole()}
	},
}

func whole() draft { return draft{people: people, text: "hi", bug: -1} }

func failing(r *rand.Rand) draft {
	d := whole()
	d.bug = r.IntN(len(people) + 1) // the last one has no bug
	return d
}

var (
	stopped = regexp.MustCompile(`was stopped before the call ([a-z.]+)\(`)
	listed  = regexp.MustCompile(`^- (E[0-9]+) ([a-z.]+)\(`)
	stocked = regexp.MustCompile(`(?m)^- (E[0-9]+) stock\.set\(`)
	done    = regexp.MustCompile(`"to":"([a-z]+)"`)
)

// write is the simulated model: it writes the drafts in order, and answers holds. A careful model looks before it
// repeats; a hasty one repeats.
func write(drafts []draft, careful bool, messages []llms.MessageContent) string {
	replies := 0
	for _, m := range messages {
		if m.Role == llms.ChatMessageTypeAI {
			replies++
		}
	}
	d := drafts[min(replies, len(drafts)-1)]
	said := text(messages[len(messages)-1])
	if d.people == nil {
		d.people = slices.Clone(people)
		for _, name := range done.FindAllStringSubmatch(said, -1) {
			d.people = slices.DeleteFunc(d.people, func(p string) bool { return p == name[1] })
		}
	}
	if held := stopped.FindStringSubmatch(said); held != nil {
		d = whole()
		d.setFirst, d.take = drafts[0].setFirst, drafts[0].take
		d.text, d.listFirst = drafts[len(drafts)-1].text, careful
		d.repeated, d.second = held[1], second(said, held[1])
	}
	if set := stocked.FindStringSubmatch(said); set != nil && (careful || heldStock(messages)) {
		d.taken = set[1]
	}
	return d.source()
}

// heldStock reports whether the model was told that a call that sets the stock was held.
func heldStock(messages []llms.MessageContent) bool {
	return slices.ContainsFunc(messages, func(m llms.MessageContent) bool {
		return strings.Contains(text(m), "was stopped before the call stock.set(")
	})
}

// second returns the second argument for the calls of a tool: they repeat those that reported an error, and differ from
// those that are done or unknown.
func second(said, tool string) string {
	var failed, open []string
	title := ""
	for line := range strings.Lines(said) {
		if entry := listed.FindStringSubmatch(line); entry == nil {
			title = line
		} else if entry[2] == tool && !strings.HasPrefix(title, "Done") {
			open = append(open, fmt.Sprintf("%q", entry[1]))
			if strings.HasPrefix(title, "Reported") {
				failed = append(failed, fmt.Sprintf("%q", entry[1]))
			}
		}
	}
	return fmt.Sprintf(", {again: [%s], distinct: [%s]}", strings.Join(failed, ", "),
		strings.Join(append(open, `"all"`), ", "))
}

func text(m llms.MessageContent) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if t, ok := p.(llms.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
