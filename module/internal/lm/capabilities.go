package lm

import (
	"reflect"

	"github.com/tmc/langchaingo/llms"
)

// Capabilities are the features of a model besides plain text replies.
type Capabilities struct {
	Schema   bool `json:"schema,omitempty"`   // constrains its reply to [Params].Schema
	Tools    bool `json:"tools,omitempty"`    // calls the tools of llms.WithTools, several in one reply
	Thinking bool `json:"thinking,omitempty"` // obeys [Params].Effort and [Params].ThinkingTokens
	Caching  bool `json:"caching,omitempty"`  // obeys [Params].CacheSystem
	Vision   bool `json:"vision,omitempty"`   // reads images

	// MaxTokens is the limit that a reply has if the call options set none, without the tokens that the call allows for
	// thinking; 0 if it is unknown.
	MaxTokens int `json:"max_tokens,omitempty"`

	// Model is the model's name, such as "gpt-5.1"; "" if it is unknown or there are several models.
	Model string `json:"model,omitempty"`
}

// Capable is implemented by models that state their capabilities. They receive every [Message] unchanged.
type Capable interface {
	Capabilities() Capabilities
}

// CapabilitiesOf returns the capabilities of a model, or the zero value if it does not state them or is a nil pointer.
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

// And returns the capabilities that both c and o have, without MaxTokens.
func (c Capabilities) And(o Capabilities) Capabilities {
	if c.Model != o.Model {
		c.Model = ""
	}
	return Capabilities{
		Model: c.Model, Schema: c.Schema && o.Schema, Tools: c.Tools && o.Tools, Thinking: c.Thinking && o.Thinking,
		Caching: c.Caching && o.Caching, Vision: c.Vision && o.Vision,
	}
}
