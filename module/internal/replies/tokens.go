package replies

import (
	"regexp"
	"strings"
)

// Servers that do not know the template of a model leave its tokens in the
// message: <|eot_id|> behind it, or the channels in which a model thinks and
// answers.

// withoutTokens returns what a message says between the tokens of its template.
func withoutTokens(text string) (string, error) {
	text = withoutTurn(text)
	if strings.IndexByte(text, '<') < 0 || !strings.Contains(text, "<|") && !tokenEnd.MatchString(text) {
		return text, nil
	}
	if m := actionCalls.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text, err := lastChannel(strings.TrimSpace(text))
	for {
		before, token := cutToken(text)
		if token == "" || err != nil {
			return text, err
		}
		text = strings.TrimSpace(before)
	}
}

// tokenEnd finds the tokens that are not in bars.
var tokenEnd = regexp.MustCompile(`(?:</s>|<end_of_turn>)\s*$`)

// cutToken cuts a token off the end of a text.
func cutToken(text string) (before, token string) {
	text = strings.TrimSuffix(text, "<|start_header_id|>assistant<|end_header_id|>")
	for _, known := range []string{"</s>", "<end_of_turn>"} {
		if before, ok := strings.CutSuffix(text, known); ok {
			return before, known
		}
	}
	at := strings.LastIndex(text[max(0, len(text)-40):], "<|") + max(0, len(text)-40)
	if !strings.HasSuffix(text, "|>") || !strings.HasPrefix(text[at:], "<|") || strings.ContainsAny(text[at:], " \n") {
		return text, ""
	}
	return text[:at], text[at:]
}

const channelToken, messageToken = "<|channel|>", "<|message|>"

// lastChannel is what is said in the channel that is meant for the reader, if a
// message begins with one.
func lastChannel(text string) (string, error) {
	if !strings.HasPrefix(text, channelToken) && !strings.HasPrefix(text, "<|start|>") {
		return text, nil
	}
	at := strings.LastIndex(text, channelToken+"final")
	if call := calledOut.FindStringSubmatch(text); call != nil && at < 0 && strings.Count(text, "<|call|>") == 1 {
		return call[1], nil
	}
	if at < 0 {
		return "", structural("", "the reply ends before its thoughts do; answer in the final channel")
	}
	_, text, _ = strings.Cut(text[at:], messageToken)
	return text, nil
}

// calledOut finds a call that a message ends with, which is all it says to others.
var calledOut = regexp.MustCompile(`(?s)<\|channel\|>commentary to=[\w.]+ ?(?:<\|constrain\|>)?(?:json)?<\|message\|>(\{[^|]*\})<\|call\|>$`)

// actionCalls finds a message that is the calls of an action.
var actionCalls = regexp.MustCompile(`(?s)^\s*<\|START_ACTION\|>(.*)<\|END_ACTION\|>\s*$`)

// turn finds what templates put before the turn of the model, and names of it that
// models repeat before a marker.
var turn = regexp.MustCompile(`^\s*(?:\[/INST\]\s*|(?:(?i:assistant|ai|model)):[ \t]*\[\[)`)

func withoutTurn(text string) string {
	head := text[:min(len(text), 100)]
	if !strings.Contains(head, "[/INST]") && !strings.Contains(head, ": [[") && !strings.Contains(head, ":[[") {
		return text
	}
	if at := turn.FindStringIndex(head); at != nil {
		return strings.TrimPrefix(text[at[1]-2*strings.Count(head[at[0]:at[1]], "[["):], " ")
	}
	return text
}
