package main

import (
	"context"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
)

// rules are how the tickets in the folder data are sorted: a ticket with the word goes to the team. The student
// guesses another team where the house has a rule of its own.
var rules = []struct{ word, team, guess, rule string }{
	{"refund", "sales", "billing", "A refund goes to sales, who know the customer."},
	{"password", "security", "support", "A password goes to security."},
	{"address", "billing", "shipping", "A new address goes to billing, who keep the records."},
	{"contract", "legal", "sales", "A contract goes to legal before anybody signs it."},
	{"broken", "shipping", "support", "A broken item goes to shipping, who replace it."},
	{"invoice", "billing", "billing", "An invoice goes to billing."},
	{"parcel", "shipping", "shipping", "A parcel goes to shipping."},
	{"discount", "sales", "sales", "A discount goes to sales."},
	{"crash", "support", "support", "A crash goes to support."},
}

// student returns a simulated model that sorts tickets. It knows a rule if a sentence of its instructions states it, or
// if a demo follows it. If a ticket has the words of two rules, it applies the second.
func student() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		ticket := field(r.Last(), "ticket")
		if ticket == "" {
			return llmtest.Reply{}, errors.New("the student can only sort tickets; use -signature 'ticket -> team'")
		}
		team, all := "support", texts(r.Messages)
		for _, k := range rules {
			switch told := stated(all[0], k.word, k.team) || shown(all, k.word, k.team); {
			case mentions(ticket, k.word) && told:
				team = k.team
			case mentions(ticket, k.word):
				team = k.guess
			}
		}
		return llmtest.Reply{Text: "[[ ## team ## ]]\n" + team + "\n\n[[ ## completed ## ]]"}, nil
	})
}

// reflection returns a simulated model that writes instructions. It knows only what its prompt shows.
func reflection() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := "Choose the team for the ticket."
		for _, k := range rules {
			if stated(r.Last(), k.word, k.team) {
				text += "\n- " + k.rule
			}
		}
		return llmtest.Reply{Text: "<instructions>\n" + text + "\n</instructions>"}, nil
	})
}

// stated reports whether a sentence of a text has both words.
func stated(text, word, team string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '.' || r == '\n' }) {
		if mentions(sentence, word) && mentions(sentence, team) {
			return true
		}
	}
	return false
}

// shown reports whether a demo has a ticket with the word and the right team.
func shown(messages []string, word, team string) bool {
	for i := range len(messages) - 1 {
		if mentions(field(messages[i], "ticket"), word) && field(messages[i+1], "team") == team {
			return true
		}
	}
	return false
}

func mentions(text, word string) bool { return strings.Contains(strings.ToLower(text), word) }

// field returns the value of a field in a message.
func field(message, name string) string {
	_, rest, _ := strings.Cut(message, "[[ ## "+name+" ## ]]\n")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

func texts(messages []llms.MessageContent) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		for _, part := range m.Parts {
			if t, ok := part.(llms.TextContent); ok {
				all[i] += t.Text
			}
		}
	}
	return all
}
