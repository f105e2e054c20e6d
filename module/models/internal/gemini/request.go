package gemini

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// object is a JSON object.
type object = map[string]any

// request returns the body of generateContent, except for the reply's schema.
func (m *Model) request(
	model string, p lm.Params, messages []llms.MessageContent, options []llms.CallOption,
) (object, error) {
	o := lm.Options(options)
	config := object{}
	set(config, "maxOutputTokens", cmp.Or(o.MaxTokens, m.maxTokens))
	set(config, "seed", o.Seed)
	set(config, "topK", o.TopK)
	set(config, "frequencyPenalty", o.FrequencyPenalty)
	set(config, "presencePenalty", o.PresencePenalty)
	if n := max(o.N, o.CandidateCount); n > 1 {
		config["candidateCount"] = n
	}
	if s := lm.SamplingOf(options); s.Temperature != nil {
		config["temperature"] = *s.Temperature
	}
	if s := lm.SamplingOf(options); s.TopP != nil {
		config["topP"] = *s.TopP
	}
	if len(o.StopWords) > 0 {
		config["stopSequences"] = o.StopWords
	}
	if o.JSONMode {
		config["responseMimeType"] = "application/json"
	}
	if thinking := think(model, p); thinking != nil {
		config["thinkingConfig"] = thinking
	}
	c := conversation{provider: m.client.Provider, signed: validatesSignatures(model), calls: map[string]call{}}
	for _, message := range messages {
		if err := c.add(message); err != nil {
			return nil, err
		}
	}
	body := object{}
	switch {
	case len(c.system) > 0 && m.cached: // the API takes no further system instruction
		c.contents = append([]content{{"user", c.system}}, c.contents...)
	case len(c.system) > 0:
		body["systemInstruction"] = object{"parts": c.system}
	}
	body["contents"] = c.contents
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	return body, m.addTools(body, o)
}

// set sets a field unless the value is zero.
func set[T comparable](body object, name string, value T) {
	var zero T
	if value != zero {
		body[name] = value
	}
}

// constrained returns the body with the reply's schema, if it is not nil.
func constrained(body object, schema json.RawMessage) object {
	if schema == nil {
		return body
	}
	config := object{"responseMimeType": "application/json", "responseJsonSchema": schema}
	if ours, ok := body["generationConfig"].(object); ok {
		config = maps.Clone(ours)
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", schema
	}
	body = maps.Clone(body)
	body["generationConfig"] = config
	return body
}

// addTools encodes the tools and the tool choice of the call options.
func (m *Model) addTools(body object, o llms.CallOptions) error {
	var functions []object
	for i, t := range o.Tools {
		if t.Function == nil || t.Function.Name == "" {
			return wire.Invalid("tool %d has no function with a name; set Tool.Function", i+1)
		}
		f := object{"name": t.Function.Name, "description": t.Function.Description}
		if t.Function.Parameters != nil {
			f["parametersJsonSchema"] = t.Function.Parameters
		}
		functions = append(functions, f)
	}
	switch {
	case len(functions) == 0:
		return nil
	case m.cached:
		return wire.Invalid("a request with cached content has no other tools; put the tools into the cached content")
	}
	body["tools"] = []object{{"functionDeclarations": functions}}
	config := object{}
	switch choice := o.ToolChoice.(type) {
	case string:
		modes := map[string]string{"auto": "AUTO", "none": "NONE", "any": "ANY", "required": "ANY"}
		set(config, "mode", modes[choice])
	case llms.ToolChoice:
		if choice.Function != nil {
			config["mode"], config["allowedFunctionNames"] = "ANY", []string{choice.Function.Name}
		}
	}
	if len(config) > 0 {
		body["toolConfig"] = object{"functionCallingConfig": config}
	}
	return nil
}
