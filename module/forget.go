package module

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// conversation is the trajectory as the model sees it in a step: a fold over those before.
// What is left out of it, the question says.
func (r *run) conversation(step int) []message {
	before := r.Steps[:step-1]
	if len(before) == 0 {
		return r.opening
	}
	list := slices.Clone(r.opening)
	if r.forgotten > 0 {
		asked := &list[len(list)-1]
		asked.text += r.leftOut()
	}
	for _, e := range r.exchanges[r.forgotten:len(before)] {
		list = append(list, e...)
	}
	switch last := &list[len(list)-1]; {
	case r.closing == "":
	case last.role == llms.ChatMessageTypeHuman:
		last.text += "\n\n" + r.closing
	default:
		list = append(list, message{role: llms.ChatMessageTypeHuman, text: r.closing})
	}
	return list
}

// forget leaves the older half of the steps before one out of the conversation, but never
// the last. It reports whether there was one to leave out. To leave out one at a
// time would change the conversation, which providers cache, again and again.
func (r *run) forget(step int) bool {
	older := step - 2 - r.forgotten
	if older < 1 {
		return false
	}
	r.forgotten += (older + 1) / 2
	return true
}

// leftOut tells of the steps that are left out, and what they did: to do it once
// more would be the worst that can come of it.
func (r *run) leftOut() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nLeft out from here on, because the conversation grew too long: %s.", plural(r.forgotten, "step"))
	did := sortEffects(r.calls()[:r.Steps[r.forgotten].before])
	writeEntries(&b, "Done in them:", did.done)
	writeEntries(&b, "Reported an error in them; it may have taken effect:", did.failed)
	writeEntries(&b, "Unknown whether it happened:", did.unknown)
	return b.String()
}

// contextTooLong reports whether a model's error is that the conversation does
// not fit into it.
func contextTooLong(err error) bool {
	var e *lm.Error
	return errors.As(err, &e) && e.Kind == lm.ContextTooLong
}
