package prompt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools/journal"
)

// Limits, in bytes of JSON, on the inputs that are shown to a model that writes programs. Programs have all inputs in
// full as constants.
const (
	maxInput     = 8000  // a longer input is shown in part
	inputPart    = 1500  // the part of a longer input
	mediaPart    = 200   // the part of an image or a file
	allInputs    = 16000 // all inputs together, approximately
	minInputPart = 100
)

// Preview shortens inputs. It keeps inputs whole, beginning with the shortest, as long as there is room for part of
// every other input.
func Preview(inputs signature.Values) signature.Values {
	shown, order := slices.Clone(inputs), make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(inputs[a].JSON), len(inputs[b].JSON)) })
	left := allInputs
	for n, i := range order {
		others := len(order) - n - 1
		share := max(left/(others+1), minInputPart)
		if len(inputs[i].JSON) > min(maxInput, max(share, left-others*inputPart)) {
			shown[i].JSON = replies.Quote(describe(inputs[i].JSON, min(share, inputPart)))
		}
		left -= len(shown[i].JSON)
	}
	return shown
}

// Attachments returns the numbers that an input's images or files have among all attachments, and their names.
func Attachments(before, n int, names []string) string {
	text := fmt.Sprintf("attachment %d", before+1)
	if n > 1 {
		text = fmt.Sprintf("attachments %d to %d", before+1, before+n)
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return "(" + text + ")"
}

// AttachmentConstant is [Attachments] for an input that is also a constant in programs.
func AttachmentConstant(attachments string, raw json.RawMessage) string {
	return attachments + "; in programs " + describe(raw, mediaPart)
}

// HistoryConstant says that programs have the earlier turns of a conversation.
func HistoryConstant(name string) string {
	return "Programs also have the constant " + name + ", an array with the earlier turns."
}

// TaskText returns a question's text, to search for tools that match it.
func TaskText(spec *signature.Spec, inputs signature.Values) string {
	text := spec.Instructions()
	for _, v := range inputs {
		text += "\n" + display.Cut(replies.PlainText(v.JSON), inputPart)
	}
	return text
}

// Matching adds an introduction to the declarations of the tools that match a question. It returns "" if declarations
// is empty.
func Matching(declarations string) string {
	if declarations == "" {
		return ""
	}
	return "Tools that may fit, declared:\n" + strings.TrimSpace(declarations)
}

// Variables lists the newest variables from earlier programs, without those that have an input's name.
func Variables(list []sandbox.Variable, inputs map[string]any) string {
	const limit = 30
	var lines []string
	for _, v := range list {
		if _, hidden := inputs[v.Name]; !hidden {
			lines = append(lines, "- "+v.String())
		}
	}
	if len(lines) == 0 {
		return ""
	}
	text := "Variables from earlier programs that you can use:"
	if older := len(lines) - limit; older > 0 {
		lines = lines[older:]
		text += fmt.Sprintf("\n- %s, not listed", display.Plural(older, "older variable"))
	}
	return text + "\n" + Cut(strings.Join(lines, "\n"), maxObservation)
}

// VariablesGone and VariablesUnlisted replace the list of variables in a question.
const (
	VariablesGone     = "The variables of earlier programs are gone. Declare again what you need."
	VariablesUnlisted = "The variables of earlier programs cannot be listed."
)

// Forgotten says that the first steps are left out of a conversation, and lists their effects.
func Forgotten(steps int, entries []journal.Entry) string {
	return "\n\n" + display.Plural(steps, "step") + " omitted here, because the conversation became too long." +
		listEffects(entries, "Done in them:", maxObservation)
}
