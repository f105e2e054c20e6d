package openai

import "regexp"

// OpenAI accepts any ID of a call that is not too long. Mistral's IDs have nine characters.
var anyID, mistralID = regexp.MustCompile(`^.{1,40}$`), regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// dialect describes how a provider differs from OpenAI.
type dialect struct {
	variable  string // the key's environment variable
	url       string
	maxTokens string         // the field that limits the reply
	seed      string         // the field for the seed
	callID    *regexp.Regexp // matches the IDs of calls; nil means anyID

	// think sets how much the model thinks.
	think func(body map[string]any, effort string, tokens int)

	azure    bool // sends keys in a header of its own, and has one URL for each account
	local    bool // needs no key
	noSchema bool // has JSON mode only
	noVision bool
	noUsage  bool // rejects stream_options, and streams the usage without being asked
	noEcho   bool // rejects messages with the reasoning from its own replies
}

// dialects returns the dialect of each provider. In the next turn, a reply is sent back as it was received: deepseek
// requires the reasoning_content of turns that called tools and ignores it in other turns, and openrouter asks for its
// reasoning_details.
func dialects() map[string]dialect {
	const (
		current = "max_completion_tokens"
		old     = "max_tokens" // the former name
	)
	return map[string]dialect{
		"openai": {variable: "OPENAI_API_KEY", url: "https://api.openai.com/v1",
			maxTokens: current, seed: "seed", think: byEffort},
		"azure": {variable: "AZURE_OPENAI_API_KEY", maxTokens: current, seed: "seed", think: byEffort, azure: true},
		"mistral": {variable: "MISTRAL_API_KEY", url: "https://api.mistral.ai/v1",
			maxTokens: old, seed: "random_seed", think: byEffort, noUsage: true, callID: mistralID},
		"groq": {variable: "GROQ_API_KEY", url: "https://api.groq.com/openai/v1",
			maxTokens: current, seed: "seed", think: byEffort, noEcho: true},
		"openrouter": {variable: "OPENROUTER_API_KEY", url: "https://openrouter.ai/api/v1",
			maxTokens: old, seed: "seed", think: openRouterReasoning},
		"deepseek": {variable: "DEEPSEEK_API_KEY", url: "https://api.deepseek.com",
			maxTokens: old, seed: "seed", think: deepSeekThinking, noSchema: true, noVision: true},
		"xai": {variable: "XAI_API_KEY", url: "https://api.x.ai/v1",
			maxTokens: current, seed: "seed", think: byEffort},
		"together": {variable: "TOGETHER_API_KEY", url: "https://api.together.ai/v1",
			maxTokens: old, seed: "seed", think: byEffort},
		"vllm": {variable: "VLLM_API_KEY", url: "http://localhost:8000/v1",
			maxTokens: old, seed: "seed", think: byEffort, local: true},
		"lmstudio": {variable: "LM_API_TOKEN", url: "http://localhost:1234/v1",
			maxTokens: old, seed: "seed", think: byEffort, local: true},
	}
}

func byEffort(body map[string]any, effort string, _ int) { set(body, "reasoning_effort", effort) }

// openRouterReasoning sends either the tokens or the effort, in openrouter's form.
func openRouterReasoning(body map[string]any, effort string, tokens int) {
	switch {
	case tokens > 0:
		body["reasoning"] = map[string]any{"max_tokens": tokens}
	case effort != "":
		body["reasoning"] = map[string]any{"effort": effort}
	}
}

// deepSeekThinking turns thinking off with DeepSeek's own field, since DeepSeek has no effort "none".
func deepSeekThinking(body map[string]any, effort string, _ int) {
	if effort == "none" {
		body["thinking"] = map[string]any{"type": "disabled"}
		return
	}
	byEffort(body, effort, 0)
}
