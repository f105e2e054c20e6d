package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest/stub"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/models/openai"
)

func Example() {
	server := httptest.NewServer(stub.OpenAI(nil, stub.Reply{Text: "A written order."}))
	defer server.Close()

	model, err := openai.New("gpt-5.1", &openai.Options{Key: "test-key", BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := llms.GenerateFromSinglePrompt(context.Background(), model, "What is a writ?")
	fmt.Println(answer, err)
	// Output:
	// A written order. <nil>
}

func ExampleNew_failure() {
	server := httptest.NewServer(stub.OpenAI(&stub.Options{Models: []string{"gpt-5.1"}}))
	defer server.Close()

	model, err := openai.New("gpt-51", &openai.Options{Key: "test-key", BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = llms.GenerateFromSinglePrompt(context.Background(), model, "What is a writ?")
	if e := (*models.Error)(nil); errors.As(err, &e) {
		fmt.Println(e.Kind, e.Status)
		fmt.Println(e)
	}
	// Output:
	// invalid 404
	// the model: openai answered 404 Not Found: The model `gpt-51` does not exist or you do not have access to it.; check the name of the model and the base URL
}
