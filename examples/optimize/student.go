package main

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
)

// rules say how the tickets in the folder data are sorted: a ticket with the word goes to the team. Without knowing a
// rule, the student guesses, and is often wrong.
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

// student returns a simulated model that sorts tickets. It knows a rule if a sentence of its prompt states the rule, or
// a demo follows it. If a ticket has the words of two rules, the student applies the second rule.
func student() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		_, ticket, found := strings.Cut(r.Last(), "[[ ## ticket ## ]]\n")
		if !found {
			return llmtest.Reply{}, errors.New("the student can only sort tickets; use -signature 'ticket -> team'")
		}
		ticket, _, _ = strings.Cut(ticket, "\n")
		prompt, team := strings.TrimSuffix(r.Text(), r.Last()), "support"
		for _, k := range rules {
			switch known := stated(prompt, k.word, k.team) || shown(prompt, k.word, k.team); {
			case mentions(ticket, k.word) && known:
				team = k.team
			case mentions(ticket, k.word):
				team = k.guess
			}
		}
		return llmtest.Reply{Text: "[[ ## team ## ]]\n" + team + "\n\n[[ ## completed ## ]]"}, nil
	})
}

// reflection returns a simulated model that writes instructions. It knows only the rules that its prompt states.
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

// stated reports whether a sentence of a prompt has both words.
func stated(prompt, word, team string) bool {
	for sentence := range strings.FieldsFuncSeq(prompt, func(r rune) bool { return r == '.' || r == '\n' }) {
		if mentions(sentence, word) && mentions(sentence, team) {
			return true
		}
	}
	return false
}

var demo = regexp.MustCompile(`(?s)\[\[ ## ticket ## \]\]\n([^\n{]+)\n.*?\[\[ ## team ## \]\]\n(\w+)`)

// shown reports whether a demo in a prompt has a ticket with the word and the right team.
func shown(prompt, word, team string) bool {
	for _, d := range demo.FindAllStringSubmatch(prompt, -1) {
		if mentions(d[1], word) && d[2] == team {
			return true
		}
	}
	return false
}

func mentions(text, word string) bool { return strings.Contains(strings.ToLower(text), word) }
