package conversationtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// measured runs all tasks and returns their figures as tables.
func measured(t *testing.T, box *sandbox.Sandbox) string {
	t.Helper()
	var sets, each strings.Builder
	sets.WriteString(`
| tools | tasks | as listed | first prompt | requests | prompts, uncached | prompts, cached | replies | one by one: requests | uncached | cached |
|---|---|---|---|---|---|---|---|---|---|---|
`)
	each.WriteString("\nThe tasks over the large set with 240 tools:\n\n" +
		"| task | requests | tool calls | uncached | cached | one by one: uncached | cached |\n" +
		"|---|---|---|---|---|---|---|\n")
	called := map[string]int{}
	graphed := func() string {
		list := counts(called)
		clear(called)
		return list
	}
	nothing := func() string { return "" }
	small := newPlayground(box, shop(t), nothing)
	medium := newPlayground(box, recorded(t, called, "filesystem", "memory"), graphed)
	sets.WriteString(small.figures(t, "small", shopTasks, nil))
	sets.WriteString(medium.figures(t, "medium", serverTasks, nil))
	for i, further := range []int{0, 11} {
		w := newWorld(further)
		set, err := w.set(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows := &each
		if i > 0 {
			rows = nil
		}
		sets.WriteString(newPlayground(box, set, w.effects).figures(t, "large", tasks, rows))
	}
	return sets.String() + each.String()
}

// figures runs tasks, appends a row for each to rows, and returns the row for all of them.
func (p *playground) figures(t *testing.T, name string, tasks []task, rows *strings.Builder) string {
	t.Helper()
	var ours, theirs spent
	start, list := 0, listed(p.set)
	for _, x := range tasks {
		r := p.run(t, x, x.answer(newWorld(0)))
		start = max(start, first(r.requests))
		a, b := spentBy(r.requests), oneByOne(r, list, x.question)
		for _, step := range r.trajectory.Steps {
			a.replies += count(step.Reply)
		}
		ours, theirs = ours.plus(a), theirs.plus(b)
		if rows != nil {
			fmt.Fprintf(rows, "| %s | %d | %d | %d | %d | %d | %d |\n",
				x.name, a.requests, b.requests-1, a.uncached, a.cached, b.uncached, b.cached)
		}
	}
	return fmt.Sprintf("| %s, %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n",
		name, p.set.Len(), len(tasks), list, start,
		ours.requests, ours.uncached, ours.cached, ours.replies, theirs.requests, theirs.uncached, theirs.cached)
}
