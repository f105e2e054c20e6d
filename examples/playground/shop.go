package main

import (
	"context"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

type orderID struct {
	ID string `json:"id"`
}

type order struct {
	Customer string  `json:"customer"`
	Total    float64 `json:"total"`
	Remark   string  `json:"remark"`
}

type refund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

type mail struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

// shop has the tools of a shop. A person has to approve refunds, since they cannot be undone.
type shop []*tools.Tool

func newShop() shop {
	return shop{
		tools.Func("order", "Returns an order.", func(_ context.Context, in orderID) (order, error) {
			return order{"ann@example.com", 59.90, "The customer writes that " + in.ID + " has arrived broken."}, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("refund", "Refunds an amount of an order.", func(_ context.Context, in refund) (string, error) {
			return "refunded " + in.Order, nil
		}, &tools.Hints{Class: tools.Effect, Destructive: true}),
		tools.Func("mail", "Sends a mail.", func(_ context.Context, in mail) (string, error) {
			return "sent to " + in.To, nil
		}, &tools.Hints{Class: tools.Effect}),
	}
}

// Tools implements [tools.Source].
func (s shop) Tools(context.Context) ([]*tools.Tool, error) { return s, nil }

var replies = []string{
	"I look at the order before I do anything.\n\n```js\nconst o = await order({ id: \"o-17\" });\nconsole.log(o.remark);\no\n```",
	"The order has arrived broken, so I refund all of it and tell the customer.\n\n```js\n" +
		"const o = await order({ id: \"o-17\" });\nlet text;\ntry {\n" +
		"  await refund({ order: \"o-17\", amount: o.total });\n  text = \"You get a refund for your order.\";\n" +
		"} catch (e) {\n  text = `We cannot refund your order: ${e.message}`;\n}\n" +
		"await mail({ to: o.customer, text });\nsubmit({ answer: `${o.customer} was told: ${text}` });\n```",
}

// scripted replies in the same way to every task: it is the last reply if the question shows the order.
var scripted llms.Model = llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
	text := replies[0]
	if strings.Contains(r.Last(), "has arrived broken.") {
		text = replies[1]
	}
	select { // as a real model takes a while
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return llmtest.Reply{Text: text, Chunks: strings.SplitAfter(text, " ")}, nil
})
