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
	s := lm.SamplingOf(options)
	if s.Temperature != nil {
		config["temperature"] = *s.Temperature
	}
	if s.TopP != nil {
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
	c := conversation{provider: m.client.Provider, signed: versionOf(model) >= 300, calls: map[string]call{}}
	system, contents, err := c.contents(messages)
	if err != nil {
		return nil, err
	}
	body := object{}
	switch {
	case len(system) > 0 && (m.cached || len(contents) == 0): // the API takes no further instruction, or needs contents
		first := content{Role: "user"}
		for _, text := range system {
			first.Parts = append(first.Parts, text)
		}
		contents = append([]content{first}, contents...)
	case len(system) > 0:
		body["systemInstruction"] = object{"parts": system}
	}
	body["contents"] = contents
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
	ours, _ := body["generationConfig"].(object)
	config := object{"responseMimeType": "application/json", "responseJsonSchema": schema}
	maps.Copy(config, ours)
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
