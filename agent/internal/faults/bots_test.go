package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// bot returns the module that a process runs: an agent, an agent with a sub-agent that does the work, or a ReAct.
func (p *play) bot() module.Module[agent.Task, agent.Answer] {
	set := p.tools(p.process)
	if p.result.kind == "ReAct" {
		sig := signature.Must(signature.New[agent.Task, agent.Answer]("Do the task."))
		return module.NewReAct(sig, llmtest.Func(p.react), set, nil)
	}
	bot, err := agent.New(llmtest.Func(p.reply), &agent.Options{Sandbox: p.box, Tools: set})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.result.kind != "sub-agent" {
		return bot
	}
	team := of("team", module.Tool("write", "Let somebody write to everybody.", bot, &tools.Hints{Class: tools.Effect}))
	if set, err = tools.NewSet(context.Background(), team); err != nil {
		p.t.Fatal(err)
	}
	boss, err := agent.New(llmtest.Func(p.delegate), &agent.Options{Sandbox: p.box, Tools: set})
	if err != nil {
		p.t.Fatal(err)
	}
	return boss
}

// delegate is the model of an agent that lets a sub-agent do the work. If that fails, the agent says so.
func (p *play) delegate(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
	if p.process.point() {
		return llmtest.Reply{}, errDead
	}
	last := text(r.Messages[len(r.Messages)-1])
	source := "submit({answer: \"failed\"})"
	if len(r.Messages) < 3 {
		source = "const done = await team.write({task: \"Write to everybody.\"});\nsubmit({answer: done.answer})"
	}
	p.tell("asked for the sub-agent:\n%s\nprogram:\n%s", last, source)
	return llmtest.Reply{Text: "```js\n" + source + "\n```"}, nil
}

var reacted = regexp.MustCompile(`\]\]\n(mail\.send|tickets\.create|mail\.list)\n(?s:.*)"to": ?"([a-z]+)"`)

// react is the model of a ReAct. It makes one call at a time. After an error, a careful model looks who got a mail, and
// sends what is missing; a hasty one makes the call again.
func (p *play) react(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
	if p.process.point() {
		return llmtest.Reply{}, errDead
	}
	p.mu.Lock()
	maps.Copy(p.told, p.done)
	p.mu.Unlock()
	last := text(r.Messages[len(r.Messages)-1])
	p.countHold(last)
	over, tried, looked := map[string]bool{}, map[string]int{}, false
	for i, m := range r.Messages {
		if m.Role != llms.ChatMessageTypeAI || i+1 == len(r.Messages) {
			continue
		}
		said, answer := text(m), text(r.Messages[i+1])
		if to := reacted.FindStringSubmatch(said); to != nil {
			key := to[1] + to[2]
			tried[key]++
			ok := strings.Contains(answer, " returned:")
			over[key] = over[key] || ok || tried[key] > 3 || to[1] == "tickets.create"
			looked = ok
		} else if strings.Contains(said, "mail.list") {
			looked = true
			for _, name := range people {
				over["mail.send"+name] = over["mail.send"+name] || strings.Contains(answer, fmt.Sprintf("%q", name))
			}
		}
	}
	tool, args := "submit", map[string]string{"answer": "done"}
	for _, name := range append(slices.Clone(people), "audit") {
		next := "mail.send"
		if name == "audit" {
			next = "tickets.create"
		}
		if !over[next+name] {
			tool, args = next, map[string]string{"to": name}
			break
		}
	}
	if next := tool + args["to"]; p.result.careful && tried[next] > 0 && !looked {
		tool, args = "mail.list", map[string]string{}
	}
	raw, _ := json.Marshal(args)
	said := fmt.Sprintf("[[ ## thought ## ]]\nGo on.\n\n[[ ## tool ## ]]\n%s\n\n[[ ## args ## ]]\n%s\n\n"+
		"[[ ## completed ## ]]", tool, raw)
	p.tell("asked:\n%s\ncall:\n%s %s", last, tool, raw)
	return llmtest.Reply{Text: said}, nil
}
