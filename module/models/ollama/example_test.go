package ollama_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest/stub"
	"github.com/writ-go/writ/module/models/ollama"
)

func Example() {
	// A stub stands in for Ollama here. Omit BaseURL to call the one on this machine.
	server := httptest.NewServer(stub.Ollama(nil, stub.Reply{Text: "Thimphu."}))
	defer server.Close()
	model, err := ollama.New("qwen3", &ollama.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := llms.GenerateFromSinglePrompt(context.Background(), model, "What is the capital of Bhutan?")
	fmt.Println(reply, err)
	// Output: Thimphu. <nil>
}

func Example_missingModel() {
	server := httptest.NewServer(stub.Ollama(&stub.Options{Models: []string{"gemma3"}}))
	defer server.Close()
	model, err := ollama.New("qwen3", &ollama.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = llms.GenerateFromSinglePrompt(context.Background(), model, "What is the capital of Bhutan?")
	fmt.Println(err)
	// Output: the model: ollama does not have the model "qwen3"; get it with "ollama pull qwen3"
}
