package anthropic_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest/stub"
	"github.com/writ-go/writ/module/models/anthropic"
)

func Example() {
	// A stub stands in for Anthropic here. Omit BaseURL and Key to call Claude itself.
	server := httptest.NewServer(stub.Anthropic(nil, stub.Reply{Text: "Thimphu."}))
	defer server.Close()
	model, err := anthropic.New("claude-sonnet-5", &anthropic.Options{BaseURL: server.URL, Key: "test-key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := llms.GenerateFromSinglePrompt(context.Background(), model, "What is the capital of Bhutan?")
	fmt.Println(reply, err)
	// Output: Thimphu. <nil>
}

func Example_error() {
	server := httptest.NewServer(stub.Anthropic(nil, stub.Reply{Status: 529}))
	defer server.Close()
	model, err := anthropic.New("claude-sonnet-5", &anthropic.Options{BaseURL: server.URL, Key: "test-key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = llms.GenerateFromSinglePrompt(context.Background(), model, "What is the capital of Bhutan?")
	fmt.Println(err)
	// Output: the model: anthropic answered 529: Overloaded; try again
}
