package module

import (
	"errors"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
)

// conversation returns the messages of a step: the opening and the steps before it. Observations before the last
// one are shown in brief, except in the last question of a run, since the model cannot print anything again. If
// steps have been left out, the question says so.
func (r *run) conversation(step int) []message {
	before := r.Steps[:step-1]
	if len(before) == 0 {
		return r.opening
	}
	list := slices.Clone(r.opening)
	if r.forgotten > 0 {
		asked := &list[len(list)-1]
		asked.text += prompt.Forgotten(r.forgotten, r.calls()[:r.Steps[r.forgotten].before])
	}
	for i, e := range r.exchanges[r.forgotten:len(before)] {
		list = append(list, e.messages...)
		if e.brief != "" && r.closing == "" && r.forgotten+i < len(before)-1 {
			list[len(list)-1].text = e.brief
		}
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

// forget leaves the older half of the steps before the given one out of the conversation, but never the last one.
// It reports whether it left out any. Leaving out one step at a time would invalidate the provider's cache each time.
func (r *run) forget(step int) bool {
	older := step - 2 - r.forgotten
	if older < 1 {
		return false
	}
	r.forgotten += (older + 1) / 2
	return true
}

// contextTooLong reports whether the conversation is too long for the model.
func contextTooLong(err error) bool {
	var e *lm.Error
	return errors.As(err, &e) && e.Kind == lm.KindContextTooLong
}
