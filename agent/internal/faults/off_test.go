package faults

import (
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
)

// off is added to the number of a scenario that is played without a journal.
const off = 1 << 20

// playOff plays the scenario without a journal: the same programs and failures in the same order. At a crash, which
// comes after the same number of calls as with the journal, the run begins again with the first program.
func (p *play) playOff() {
	o := &play{t: p.t, number: p.number + off, url: p.url, box: p.box, drafts: p.drafts, fates: p.fates,
		done: map[string]bool{}}
	said, first := "", 0
	for reply := range 20 {
		o.process = &process{left: -1}
		if len(p.crashed) > 0 { // a call has two points: before and after it reaches the tool
			o.process.left = int(max(2*(p.crashed[0]-o.effects.Load())-1, 0))
		}
		ctx, crash := context.WithCancel(context.Background())
		o.process.crash = crash
		messages := make([]llms.MessageContent, reply-first, reply-first+1)
		for i := range messages {
			messages[i] = llms.TextParts(llms.ChatMessageTypeAI, "")
		}
		messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, said))
		source := strings.TrimSuffix(strings.TrimPrefix(write(o.drafts, p.result.careful, messages), "```js\n"), "\n```")
		out, err := o.box.Run(ctx, sandbox.Program{Source: source, Tools: o.tools(o.process), Submit: true})
		crash()
		switch {
		case o.process.dead:
			p.crashed, said, first = p.crashed[1:], "", reply+1
			continue
		case err != nil:
			p.t.Error(err)
			return
		case out.Failure == nil && out.Submitted && strings.HasPrefix(string(out.Value), `{"answer":"`):
			return
		}
		said = ""
		for _, c := range out.Calls { // a model knows what its last program did
			if c.Error == nil {
				said += fmt.Sprintf("%s %s\n", c.Tool, c.Args)
			}
		}
	}
}
