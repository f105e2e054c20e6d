package lm

import (
	"context"
	"encoding/json"
)

// Params are the call parameters that llms.CallOption lacks. They are in the context, and are part of cache keys and
// recordings. A model ignores the parameters for which it lacks the capability.
type Params struct {
	// Schema is the JSON Schema to which the reply is constrained. Nil means text.
	Schema json.RawMessage `json:"schema,omitempty"`

	// Effort says how much the model thinks: "none", "minimal", "low", "medium", "high" or
	// another word that the provider knows. Empty leaves it to the provider.
	Effort string `json:"effort,omitempty"`

	// ThinkingTokens limits the tokens for thinking, if the provider supports it. Zero leaves it to the provider.
	ThinkingTokens int `json:"thinking_tokens,omitempty"`

	// CacheSystem asks the provider to cache the system message and the tools, because later calls send them again.
	CacheSystem bool `json:"cache_system,omitempty"`
}

type paramsKey struct{}

// WithParams returns a context whose calls have the parameters p, replacing any others.
func WithParams(ctx context.Context, p Params) context.Context {
	return context.WithValue(ctx, paramsKey{}, p)
}

// ParamsOf returns the parameters set by [WithParams].
func ParamsOf(ctx context.Context) Params {
	p, _ := ctx.Value(paramsKey{}).(Params)
	return p
}
