package models

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Capabilities are what a model can do beyond answering text with text:
//
//	Schema   bool // it constrains its reply to Params.Schema
//	Tools    bool // it calls the tools of llms.WithTools, several in one reply
//	Thinking bool // it obeys Params.Effort and Params.ThinkingTokens
//	Caching  bool // it obeys Params.CacheSystem
//	Vision   bool // it reads images
//	Model    string // its name, such as "gpt-5.1"; "" if it is not known, or may be one of several
//
//	func (c Capabilities) And(o Capabilities) Capabilities // what both can do
//
// A model states them by a method Capabilities() Capabilities, as those that
// [Open] returns do. Such a model is sent every [Message] as it is.
type Capabilities = lm.Capabilities

// CapabilitiesOf returns what a model states that it can do, and the zero value if
// it states nothing. The models of this package that ask another one have its
// capabilities.
func CapabilitiesOf(model llms.Model) Capabilities { return lm.CapabilitiesOf(model) }

// Params are the parameters of a call for which llms.CallOption has no room:
//
//	Schema         json.RawMessage // JSON Schema that the reply must follow; nil is plain text
//	Effort         string          // how much the model thinks: "none", "minimal", "low", "medium",
//	                               // "high", or another word of the provider; "" leaves it to the provider
//	ThinkingTokens int             // how many tokens it may think with; 0 leaves it to the provider
//	CacheSystem    bool            // the system message and the tools will be sent again: cache them
//
// A model without the capability ignores them. They are part of what a [Cache] and
// a recording know a question by.
type Params = lm.Params

// WithParams returns a context whose calls have the parameters p, and no others.
func WithParams(ctx context.Context, p Params) context.Context { return lm.WithParams(ctx, p) }

// ParamsOf returns the parameters that [WithParams] gave, and the zero value if it
// gave none.
func ParamsOf(ctx context.Context) Params { return lm.ParamsOf(ctx) }

// Message is a reply as its provider wrote it, a content part that is sent back as
// the first one of the assistant message of the next turn:
//
//	Text     string          // what other providers are sent
//	Provider string          // the one that wrote it, such as "anthropic"
//	Raw      json.RawMessage // the message in the provider's protocol
//
// A model's response has a *Message in the GenerationInfo under "writ:message" if
// its provider needs one: Gemini its thought signatures, DeepSeek its reasoning,
// Anthropic its signed thinking. Tool calls follow as parts of their own, which the
// provider that wrote the message ignores.
type Message = lm.Message
