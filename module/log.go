package module

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// LogValue implements [slog.LogValuer] with a summary: which run it was, what it
// did, how long it took, what it cost, and why there is no answer. As JSON it is the
// whole account, which may be long.
func (t Trajectory) LogValue() slog.Value {
	states := map[journal.State]int{}
	for e := range t.AllCalls() {
		states[e.State]++
	}
	var calls []any
	for _, state := range []journal.State{journal.OK, journal.Failed, journal.Rejected, journal.Unknown} {
		if n := states[state]; n > 0 {
			calls = append(calls, slog.Int(string(state), n))
		}
	}
	u := t.Usage()
	all := []slog.Attr{
		slog.String("id", strconv.FormatUint(t.ID, 10)), slog.String("module", t.title()),
		slog.Int("steps", len(t.Steps)), slog.Int("runs", len(t.Runs)), slog.Group("calls", calls...),
		slog.Group("usage", slog.Int("calls", u.Calls), slog.Int("hits", u.Hits),
			slog.Int("input_tokens", u.InputTokens), slog.Int("output_tokens", u.OutputTokens)),
		slog.Duration("duration", t.Duration.Round(time.Microsecond)),
	}
	if t.Err != nil {
		all = append(all, slog.String("error", shorten(errorText(t.Err), maxReason)))
	}
	return slog.GroupValue(all...)
}

// LogValue implements [slog.LogValuer] with the text of the error; the trajectory is
// another attribute.
func (e *IncompleteError) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// LogValue implements [slog.LogValuer] with the summary of the trajectory.
func (p *Prediction[Out]) LogValue() slog.Value {
	if p == nil {
		return slog.Value{}
	}
	return p.Trajectory.LogValue()
}
