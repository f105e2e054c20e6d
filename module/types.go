package module

import (
	"context"
	"strings"

	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// types holds the result types of tools that declare no output schema.
type types struct {
	seen  declare.LearnedTypes   // the types that were learned in this run
	bytes map[*tools.Binding]int // how many bytes of each tool's results were read
	fresh string                 // types that the model has not been shown yet, one line per tool
}

// applyTypes adds the types from earlier runs to the tools, and returns the briefing with the new declarations.
func (r *codeRun) applyTypes(briefing string) string {
	if l := r.options.LearnedTypes; l != nil {
		r.set = l.Apply(r.set)
		before := r.tools
		r.tools = r.typed.Get(r.set, func() *declare.Declarations {
			return declare.New(r.set, r.options.DeclarationTokens)
		})
		briefing = strings.Replace(briefing, before.Text, r.tools.Text, 1)
	}
	return briefing
}

// learn learns types from a program's results. It reads at most a megabyte of each tool's results in a run, since
// reading more takes too long.
func (r *codeRun) learn(ctx context.Context, out *sandbox.Outcome) {
	const maxBytes = 1 << 20
	var answered []*tools.Binding // tools that returned their first result
	for _, c := range out.Calls {
		b := r.find(c.Tool)
		if b == nil || c.Error != nil || c.Pending || r.bytes[b]+len(c.Result) > maxBytes {
			continue
		}
		if r.bytes[b] == 0 {
			answered = append(answered, b)
		}
		r.bytes[b] += max(len(c.Result), 1)
		r.seen.Learn(b, c.Result)
	}
	room := 2_000
	for _, b := range answered {
		if t := r.seen.TypeScript(b); strings.ContainsAny(t, "{[") && len(t) <= room {
			r.fresh += "\n" + b.Path() + " returns " + t
			room -= len(t)
		}
	}
	if l := r.options.LearnedTypes; l != nil && !state.Frozen(ctx) {
		l.Merge(&r.seen)
	}
}
