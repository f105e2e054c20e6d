package lm

import (
	"reflect"

	"github.com/tmc/langchaingo/llms"
)

// Capabilities are what a model can do beyond answering text with text.
type Capabilities struct {
	Schema   bool `json:"schema,omitempty"`   // it constrains its reply to [Params].Schema
	Tools    bool `json:"tools,omitempty"`    // it calls the tools of llms.WithTools, several in one reply
	Thinking bool `json:"thinking,omitempty"` // it obeys [Params].Effort and [Params].ThinkingTokens
	Caching  bool `json:"caching,omitempty"`  // it obeys [Params].CacheSystem
	Vision   bool `json:"vision,omitempty"`   // it reads images

	// Model is its name, such as "gpt-5.1"; "" if it is not known, or may be one of several.
	Model string `json:"model,omitempty"`
}

// Capable is implemented by models that state what they can do. Every [Message] is sent
// to them as it is.
type Capable interface {
	Capabilities() Capabilities
}

// CapabilitiesOf returns what a model states that it can do, and nothing if it does not
// or is a nil pointer: asking that one is an error.
func CapabilitiesOf(model llms.Model) Capabilities {
	if c, ok := model.(Capable); ok && !isNil(model) {
		return c.Capabilities()
	}
	return Capabilities{}
}

func isNil(model llms.Model) bool {
	v := reflect.ValueOf(model)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// And returns what both can do.
func (c Capabilities) And(o Capabilities) Capabilities {
	if c.Model != o.Model {
		c.Model = ""
	}
	return Capabilities{
		Model: c.Model, Schema: c.Schema && o.Schema, Tools: c.Tools && o.Tools, Thinking: c.Thinking && o.Thinking,
		Caching: c.Caching && o.Caching, Vision: c.Vision && o.Vision,
	}
}
