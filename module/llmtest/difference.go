package llmtest

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// difference returns the lines in which a prompt differs from the most similar one in a store's file, with two lines
// around them.
func difference(file, prompt string) string {
	text, _ := os.ReadFile(file) // the store has read it
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	lines.Buffer(nil, len(text)+1)
	now := strings.Split(prompt, "\n")
	var before []string
	same := -1
	for lines.Scan() {
		old := strings.Split(transcript(lines.Bytes()), "\n")
		if head, tail := common(old, now); head+tail > same {
			before, same = old, head+tail
		}
	}
	const around = 2
	head, tail := common(before, now)
	var b strings.Builder
	write := func(mark string, lines []string) {
		for _, line := range lines {
			b.WriteString(mark + line + "\n")
		}
	}
	b.WriteString("--- recorded\n+++ now\n")
	write("  ", now[max(head-around, 0):head])
	write("- ", before[head:len(before)-tail])
	write("+ ", now[head:len(now)-tail])
	write("  ", now[len(now)-tail:min(len(now)-tail+around, len(now))])
	return display.Text(b.String())
}

// common returns how many lines at the beginning and at the end are the same.
func common(a, b []string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// transcript returns the prompt in a line of a store.
func transcript(line []byte) string {
	var e struct {
		Request struct {
			Messages []struct {
				Role  llms.ChatMessageType
				Parts []struct{ Text string }
			}
		}
	}
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	var messages []llms.MessageContent
	for _, m := range e.Request.Messages {
		message := llms.MessageContent{Role: m.Role}
		for _, p := range m.Parts {
			message.Parts = append(message.Parts, llms.TextContent{Text: p.Text})
		}
		messages = append(messages, message)
	}
	return lm.Transcript(messages, nil, nil)
}
