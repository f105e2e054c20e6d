package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// unusableError reports that two replies of the reflection model had no usable text.
type unusableError struct{ problem error }

func (e unusableError) Error() string {
	return "the reflection model gave no usable reply: " + e.problem.Error()
}

// askForText asks the reflection model for a text. If the reply has no usable text, it asks once more. If the second
// reply has no usable text either, it returns an unusableError.
func askForText(ctx context.Context, t *task, prompt string) (string, error) {
	asked := prompt
	var problem error
	for range 2 {
		reply, err := t.ask(ctx, asked)
		if err != nil {
			return "", err
		}
		text, err := readText(reply)
		if err == nil {
			return text, nil
		}
		problem = err
		asked = prompt + "\n\nAn earlier reply could not be used: " + data(err.Error())
	}
	return "", unusableError{problem}
}

const openTag, closeTag = "<instructions>", "</instructions>"

// readText extracts the text from a reply: the text between the tags, or else the only fenced block, or else the whole
// reply.
func readText(reply string) (string, error) {
	text := strings.TrimSpace(reply)
	if begin := strings.LastIndex(text, openTag); begin >= 0 {
		inside, _, closed := strings.Cut(text[begin+len(openTag):], closeTag)
		if !closed {
			return "", errors.New("the reply was cut off: " + closeTag + " is missing")
		}
		text = inside
	} else if blocks := strings.Split("\n"+text, "\n```"); len(blocks) == 3 {
		_, text, _ = strings.Cut(blocks[1], "\n") // the rest of the first line is the language
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("the reply has no text")
	}
	return text, nil
}

// maxData is the maximum number of characters of a value that a prompt shows.
const maxData = 2000

// writeCurrent shows the text to improve. It never shortens the text, since the model would drop what it does not see.
func writeCurrent(b *strings.Builder, text string) {
	element(b, "current", strings.ReplaceAll(text, "</current>", "< /current>"))
}

// data prepares untrusted text for a prompt: it shortens the text, and prevents it from closing the element around it.
func data(text string) string {
	if n := utf8.RuneCountInString(text); n > maxData {
		text = fmt.Sprintf("%s … (%d more characters)", string([]rune(text)[:maxData]), n-maxData)
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "</", "< /")
}

// maxBriefing is the maximum number of bytes of a briefing that a prompt shows.
const maxBriefing = 8000

// writeStep shows what a predictor asks for: its fields, and its briefing, which has the types and the declarations of
// the tools if the reply is a program or a call.
func writeStep(b *strings.Builder, p predictor) {
	fmt.Fprintf(b, "The fields of the step, inputs before the arrow: %s\n\n", data(p.Spec.String()))
	if briefing := p.given.Briefing; briefing != "" {
		b.WriteString("In addition to the instructions, the model is always told this:\n\n")
		element(b, "briefing", strings.ReplaceAll(prompt.Cut(briefing, maxBriefing), "</", "< /"))
		b.WriteString("\n")
	}
}

// toolCallText describes a call of a tool. It shortens the arguments and the result.
func toolCallText(call sandbox.Call) string {
	const maxBytes = 600
	result := string(call.Result)
	if call.Error != nil {
		result = "failed: " + call.Error.Message
	}
	args := prompt.Cut(string(call.Args), maxBytes)
	return fmt.Sprintf("%s(%s) → %s", call.Tool, args, prompt.Cut(result, maxBytes))
}

// element writes a text between tags, unless the text is empty.
func element(b *strings.Builder, name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "<%s>\n%s\n</%s>\n", name, text, name)
	}
}

// someOfTrain returns examples of Train for a prompt. It leaves out those with the same inputs as one of the examples
// in without.
func (t *task) someOfTrain(r *rand.Rand, n int, without ...int) []string {
	var shown []string
	for _, i := range r.Perm(len(t.train)) {
		if len(shown) >= n || t.repeats(i, without) {
			continue
		}
		without = append(without, i)
		var b strings.Builder
		element(&b, "inputs", data(string(t.train[i].Inputs)))
		writeWanted(&b, t.train[i])
		element(&b, "note", data(t.train[i].Note))
		shown = append(shown, b.String())
	}
	return shown
}

// writeWanted shows the expected answer, unless the example has none.
func writeWanted(b *strings.Builder, item item) {
	var want signature.Values
	isGiven := func(v signature.Value) bool {
		return !slices.Contains([]string{`""`, "null", "[]", "{}"}, string(v.JSON))
	}
	if json.Unmarshal(item.Want, &want) != nil || slices.ContainsFunc(want, isGiven) {
		element(b, "expected-answer-of-the-program", data(string(item.Want)))
	}
}
