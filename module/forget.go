package module

import (
	"errors"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
)

// conversation is the trajectory as the model sees it in a step: a fold over those before. An
// observation that is older than the last is shown in brief, unless this is the question for an
// answer from what is known: then nothing can be printed again. What is left out, the question says.
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

// contextTooLong reports whether a model's error is that the conversation does
// not fit into it.
func contextTooLong(err error) bool {
	var e *lm.Error
	return errors.As(err, &e) && e.Kind == lm.KindContextTooLong
}
