package tools

import (
	"context"
	"errors"
)

// LangchainTool is what the tools of langchaingo have in common: it is the
// interface Tool of its package tools, which need not be imported for it.
type LangchainTool interface {
	Name() string
	Description() string
	Call(ctx context.Context, input string) (string, error)
}

// FromLangchain makes a [Tool] of one of langchaingo: programs call it as
// name({input}), and get the text that it returns. Where its name is none that a
// program could use, it is made one: "Google Search" becomes Google_Search. Nil
// hints are the zero [Hints]. If t is nil, [NewSet] returns the error.
func FromLangchain(t LangchainTool, h *Hints) *Tool {
	if t == nil {
		return &Tool{err: errors.New("tools: FromLangchain: the tool is nil")}
	}
	name := identifier(t.Name())
	if Reserved(name) {
		name += "_"
	}
	return Func(name, t.Description(), func(ctx context.Context, in langchainInput) (string, error) {
		return t.Call(ctx, in.Input)
	}, h)
}

type langchainInput struct {
	Input string `json:"input"`
}
