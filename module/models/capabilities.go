package models

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Capabilities are the features of a model besides plain text replies:
//
//	Schema   bool   // constrains its reply to Params.Schema
//	Tools    bool   // calls the tools of llms.WithTools, several in one reply
//	Thinking bool   // obeys Params.Effort and Params.ThinkingTokens
//	Caching  bool   // obeys Params.CacheSystem
//	Vision   bool   // reads images
//	Model    string // the model's name, such as "gpt-5.1"; "" if unknown or one of several
//
//	// the limit that a reply has if the call options set none, without the tokens that the call
//	// allows for thinking; 0 if unknown. Budgets reserve it: see package budget.
//	MaxTokens int
//
//	func (c Capabilities) And(o Capabilities) Capabilities // the features of both, without MaxTokens
//
// A model reports them with a method Capabilities() Capabilities, as models opened with [Open] do. Such a model
// receives every [Message] unchanged.
type Capabilities = lm.Capabilities

// CapabilitiesOf returns the capabilities that a model states, or the zero value if it does not state them. The
// wrappers in this package have their model's capabilities.
func CapabilitiesOf(model llms.Model) Capabilities { return lm.CapabilitiesOf(model) }

// Params are the parameters of a call that llms.CallOption lacks:
//
//	Schema         json.RawMessage // JSON Schema that the reply must follow; nil means text
//	Effort         string          // how much the model thinks: "none", "minimal", "low", "medium",
//	                               // "high", or another word of the provider; "" leaves it to the provider
//	ThinkingTokens int             // the maximum number of tokens for thinking; 0 leaves it to the provider
//	CacheSystem    bool            // the system message and tools will be sent again, so cache them
//
// A model ignores the parameters for which it lacks the capability. A [Store] distinguishes requests by their Params.
type Params = lm.Params

// WithParams returns a context whose calls have the parameters p, replacing any others.
func WithParams(ctx context.Context, p Params) context.Context { return lm.WithParams(ctx, p) }

// ParamsOf returns the parameters set by [WithParams], or the zero value.
func ParamsOf(ctx context.Context) Params { return lm.ParamsOf(ctx) }

// Message is a reply as its provider wrote it. It is a content part, which is sent back
// as the first part of the assistant message in the next turn:
//
//	Text     string          // the text, for other providers
//	Provider string          // the provider that wrote it, such as "anthropic"
//	Raw      json.RawMessage // the message in the provider's protocol
//
// A response has a *Message in its GenerationInfo under "writ:message" if the provider
// needs it back: Gemini for thought signatures, DeepSeek for reasoning, Anthropic for
// signed thinking, OpenAI's Responses API for encrypted reasoning. Tool calls follow as
// separate parts, which that provider ignores.
type Message = lm.Message
