package conversation

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// LeftOut is what a conversation keeps of its first turns, which prompts no longer show.
type LeftOut struct {
	Turns      int               `json:"left_out,omitempty"`
	Summary    string            `json:"summary,omitempty"`
	Summarized int               `json:"summarized,omitempty"` // the number of turns that Summary covers
	Records    []string          `json:"records,omitempty"`    // what is kept word for word, the newest last
	Unlisted   int               `json:"unlisted,omitempty"`   // the number of older records, which are dropped
	Waiting    []json.RawMessage `json:"waiting,omitempty"`    // the newest turns that Summary does not cover
}

// Summarize returns a summary of earlier turns in at most the given number of bytes. Earlier has a JSON value on each
// line: the previous summary, if there is one, and the turns. If there is no summary now, done is false. An error ends
// the run.
type Summarize func(earlier string, maxBytes int) (summary string, done bool, err error)

// past is a turn that can be left out.
type past struct {
	size   int
	data   json.RawMessage // for the summary
	record string          // what is kept word for word, or ""
}

const minSummary = 200 // the minimum room for a summary, in bytes

// fit leaves out the oldest turns until the others, together with the note about those left out, fit into the limit.
// Then about half of the limit is free, so that the beginning of the prompt, which providers cache, rarely changes. The
// last turn is never left out. Turns are taken one after the other, so the summary of a long history is made of the
// same parts as if the turns had come one by one.
func (l *LeftOut) fit(turns []past, limit int, ask Summarize) (left int, err error) {
	size := 0
	for i, t := range turns {
		size += t.size
		if limit == 0 || i == left || size+len(l.note()) <= limit {
			continue
		}
		from := left
		for left < i && size > limit/3 {
			size -= turns[left].size
			left++
		}
		if err := l.add(turns[from:left], limit, ask); err != nil {
			return 0, err
		}
	}
	return left, nil
}

// add leaves out turns, and renews the summary.
func (l *LeftOut) add(turns []past, limit int, ask Summarize) error {
	for _, t := range turns {
		l.Turns++
		l.Waiting = append(l.Waiting, t.data)
		if t.record != "" {
			l.Records = append(l.Records, fmt.Sprintf("Turn %d:%s", l.Turns, t.record))
		}
	}
	kept := newest(l.Records, limit/8)
	l.Unlisted, l.Records = l.Unlisted+len(l.Records)-len(kept), kept
	l.Waiting = newest(l.Waiting, 2*limit)
	room, earlier := max(limit/4, minSummary), l.earlier()
	summary, done, err := ask(earlier, room)
	if err != nil || !done {
		return err
	}
	if summary != "" {
		l.Summary, l.Summarized = prompt.Cut(summary, min(room, len(earlier))), l.Summarized+len(l.Waiting)
	}
	l.Waiting = nil
	return nil
}

// newest returns the last items that fit into the limit together.
func newest[T ~string | ~[]byte](items []T, limit int) []T {
	first := len(items)
	for first > 0 && len(items[first-1]) <= limit {
		limit -= len(items[first-1])
		first--
	}
	return slices.Clone(items[first:])
}

// earlier returns the previous summary and the turns that it does not cover, as JSON on one line each. So no text of a
// turn can be mistaken for another turn.
func (l *LeftOut) earlier() string {
	text := ""
	if l.Summary != "" {
		text = fmt.Sprintf("{\"summary of the turns before\":%s}\n", replies.Quote(l.Summary))
	}
	for _, t := range l.Waiting {
		text += string(t) + "\n"
	}
	return text
}

// note returns what the prompt says about the turns, or "" if none are left out.
func (l *LeftOut) note() string {
	return prompt.EarlierTurns(l.Turns, l.Summarized, l.Summary, l.Records, l.Unlisted)
}

// Fit leaves out earlier turns if they are longer than the limit, in bytes. It reports whether it left out any. If
// there is an error, a chat does not change.
func (q *Question) Fit(f Formatter, limit int, ask Summarize) (changed bool, err error) {
	var turns []past
	next := &q.LeftOut
	if q.Past != nil {
		chat := q.Past.LeftOut
		next = &chat
		for _, t := range q.Past.Turns {
			data, _ := json.Marshal(t) // it has been encoded before, like those of a history
			turns = append(turns, past{Size(t.messages(f)), data, t.Record})
		}
	}
	for _, turn := range q.History {
		data, _ := PastValues(f.Spec, turn, false).MarshalJSON()
		size := len(data)
		if size > limit/2 {
			data, _ = PastValues(f.Spec, turn, true).MarshalJSON()
		}
		turns = append(turns, past{size: size, data: data})
	}
	left, err := next.fit(turns, limit, ask)
	switch {
	case err != nil || left == 0:
		return false, err
	case q.Past != nil:
		q.Past.LeftOut, q.Past.Turns = *next, slices.Clone(q.Past.Turns[left:])
	default:
		q.History = q.History[left:]
	}
	return true, nil
}

// PastValues returns an earlier turn's values. Images and files are only counted, and long values are shortened if cut
// is true.
func PastValues(spec *signature.Spec, values signature.Values, cut bool) signature.Values {
	past := signature.Values{}
	for _, v := range values {
		if parts, names, err := Attachments(kindOf(spec, v), v.JSON); err == nil && len(parts) > 0 {
			v.JSON = replies.Quote(prompt.PastAttachments(len(parts), names))
		} else if cut {
			v.JSON = prompt.PastInput(v.JSON)
		}
		past = append(past, v)
	}
	return past
}
