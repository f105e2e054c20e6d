package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

func (p *play) problem(format string, args ...any) {
	p.result.problems = append(p.result.problems, fmt.Sprintf(format, args...))
}

// remember reads the run's record, which a new process is about to continue. What it had before is still there.
func (p *play) remember(runs *agent.Runs) {
	journals, err := runs.Calls(context.Background(), "r")
	if err != nil {
		if !errors.Is(err, agent.ErrNoRun) {
			p.problem("the record cannot be read: %v", err)
		}
		return
	}
	now := map[string]journal.Entry{}
	for key, entries := range journals {
		for _, e := range entries {
			now[key+":"+e.ID] = e
		}
	}
	for id, before := range p.calls {
		switch e, ok := now[id]; {
		case !ok:
			p.problem("the record lost %s %v", id, before)
		case before.State == journal.StateOK && fmt.Sprint(e) != fmt.Sprint(before):
			p.problem("the record changed %s from %v to %v", id, before, e)
		}
	}
	p.calls = now
}

// compare compares the run's record with the server's rows. Every effect has been recorded before, and each call that
// is done has the result of its own effect.
func (p *play) compare() {
	p.process = &process{left: -1}
	p.store.process = p.process
	p.remember(agent.NewRuns(p.store))
	results := map[string][]string{}
	for _, r := range p.rows() {
		if _, ok := p.calls[r.Effect]; !ok {
			p.problem("%s %s has no record", r.Tool, r.Effect)
		}
		results[r.Effect] = append(results[r.Effect], strconv.Itoa(r.Number))
	}
	taken := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(p.calls)) {
		e := p.calls[id]
		if e.Class == tools.Read || e.Tool == "team.write" {
			continue
		}
		switch e.State {
		case journal.StateOK:
			if !slices.Contains(results[id], string(e.Result)) {
				p.problem("%s %v is done, but the server says %q", id, e, results[id])
			}
		case journal.StateRejected:
			if results[id] != nil {
				p.problem("%s %v was not made, but the server says %q", id, e, results[id])
			}
		}
		// A program that is written anew reads what is left, but does not take again.
		if e.Tool == "stock.set" && e.State == journal.StateOK && e.Repeats == nil {
			journal, _, _ := strings.Cut(id, ":")
			step := journal + "/" + strconv.Itoa(e.Step)
			var set message
			_ = json.Unmarshal(e.Args, &set)
			if taken[step] != "" && taken[step] != set.Text {
				p.problem("%s was set to %s and to %s in one step", set.To, taken[step], set.Text)
			}
			taken[step] = set.Text
		}
	}
}
