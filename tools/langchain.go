package tools

import (
	"context"
	"errors"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// FromLangchain makes a [Tool] from a tool of langchaingo's package tools. Programs call it as name({input})
// and get its text. A name that is not a JavaScript identifier is changed into one: "Google
// Search" becomes Google_Search. Nil hints are the zero [Hints]. If t is nil, [NewSet]
// returns an error.
func FromLangchain(t interface {
	Name() string
	Description() string
	Call(ctx context.Context, input string) (string, error)
}, h *Hints) *Tool {
	if t == nil {
		return &Tool{err: errors.New("tools: FromLangchain: the tool is nil")}
	}
	name := jsonvalue.Identifier(t.Name())
	if globals.Reserved(name) {
		name += "_"
	}
	return Func(name, t.Description(), func(ctx context.Context, in langchainInput) (string, error) {
		return t.Call(ctx, in.Input)
	}, h)
}

type langchainInput struct {
	Input string `json:"input"`
}
