package replies

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxReply is the maximum length of a reply in bytes. No model writes as much at once.
const maxReply = 1 << 20

var (
	errTooLong  = structural("", "the reply is longer than %d bytes; write less", maxReply)
	errEmpty    = structural("", "the reply is empty")
	errCutOff   = structural("", "the reply was cut off at the model's token limit; write less")
	errThinking = structural("", "the reply ends inside its thoughts; close them and answer")
	errChannel  = structural("", "the reply ends inside its thoughts; answer in the final channel")
)

// visible returns a reply without the model's template tokens and without thoughts.
func visible(said string) (string, error) {
	if len(said) > maxReply {
		return "", errTooLong
	}
	text := strings.TrimPrefix(strings.ToValidUTF8(said, "\ufffd"), "\ufeff")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if strings.Contains(text, "<") && !(text[0] == '{' && json.Valid([]byte(text))) {
		var err error
		if text, err = withoutTokens(text); err == nil {
			text, err = withoutThoughts(text)
		}
		if err != nil {
			return "", err
		}
	}
	if text == "" {
		return "", errEmpty
	}
	return text, nil
}

// endTokens matches template tokens at the end of a reply; channel matches a channel's header at the beginning of a
// reply.
var (
	endTokens = regexp.MustCompile(`(?:\s*(?:<\|[A-Za-z0-9_]{1,40}\|>|</s>|<end_of_turn>))+\s*$`)
	channel   = regexp.MustCompile(`^(?:<\|start\|>\w*)?<\|channel\|>`)
)

// withoutTokens removes the tokens that servers leave in a reply if they do not know the model's template: <|eot_id|>
// at its end, or the channels in which it thinks and answers.
func withoutTokens(text string) (string, error) {
	if channel.MatchString(text) {
		at := strings.LastIndex(text, "<|channel|>final")
		if at < 0 {
			return "", errChannel
		}
		_, text, _ = strings.Cut(text[at:], "<|message|>")
	}
	if strings.HasSuffix(text, ">") && !strings.Contains(text, "<s>") {
		if at := endTokens.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
	}
	return strings.TrimSpace(text), nil
}

var (
	thoughtStart = regexp.MustCompile(`(?i)(?:^|\n)[ \t]*<(?:think|thinking|thoughts?|scratchpad)>`)
	thoughtEnd   = regexp.MustCompile(`(?i)</(?:think|thinking|thoughts?|scratchpad)>`)
)

// withoutThoughts removes the thoughts before the answer, even if their opening tag was part of the prompt. Tags within
// the answer belong to the answer.
func withoutThoughts(text string) (string, error) {
	for {
		open := thoughtStart.FindStringIndex(text)
		if open == nil || isAnswer(text[:open[0]]) {
			break
		}
		end := thoughtEnd.FindStringIndex(text[open[1]:])
		if end == nil {
			return "", errThinking
		}
		text = strings.TrimSpace(text[open[1]+end[1]:])
	}
	ends := thoughtEnd.FindAllStringIndex(text, -1)
	if len(ends) == 0 || text[0] == '{' || text[0] == '`' {
		return text, nil
	}
	last := ends[len(ends)-1]
	before, after := text[:last[0]], strings.TrimLeft(text[last[1]:], " \t")
	within := after != "" && !strings.HasPrefix(after, "\n") && !strings.HasPrefix(after, "{") &&
		!strings.HasPrefix(after, "[[")
	if first := firstMark(before); within || first != "" && !containsMark(after, first) {
		return text, nil // the tag is part of the answer
	}
	return strings.TrimSpace(after), nil
}

// isAnswer reports whether an answer begins in the text before a thought.
func isAnswer(text string) bool {
	return strings.HasPrefix(text, "{") || strings.Contains(text, "```") || firstMark(text) != ""
}
