package main

import (
	"context"
	"fmt"
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

// newShop returns the tools of a shop. A person has to approve refunds, since they cannot be undone.
func newShop(ctx context.Context) (*tools.Set, error) {
	return tools.NewSet(ctx,
		tools.Func("order", "Returns an order.", func(_ context.Context, in orderID) (order, error) {
			return order{"Ann", 59.90, "Ann writes that " + in.ID + " has arrived broken."}, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("refund", "Refunds an amount of an order.", func(_ context.Context, in refund) (string, error) {
			return fmt.Sprintf("%s: %.2f was refunded.", in.Order, in.Amount), nil
		}, &tools.Hints{Class: tools.Effect, Destructive: true}))
}

var replies = []string{
	"I look at the order before I do anything.\n\n```js\nconst o = await order({ id: \"o-17\" });\n" +
		"console.log(o.remark);\no\n```",
	"The order has arrived broken, so I refund all of it.\n\n```js\nconst o = await order({ id: \"o-17\" });\n" +
		"let answer;\ntry {\n  answer = await refund({ order: \"o-17\", amount: o.total });\n} catch (e) {\n" +
		"  answer = `The order was not refunded: ${e.message}`;\n}\nsubmit({ answer });\n```",
}

// scripted replies in the same way to every task. Like a real model, it takes a while.
var scripted llms.Model = llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
	text := replies[0]
	if strings.Contains(r.Last(), "has arrived broken.") { // the result of the first program
		text = replies[1]
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return llmtest.Reply{Text: text, Chunks: strings.SplitAfter(text, " ")}, nil
})
