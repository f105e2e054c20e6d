package stub_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/writ-go/writ/module/llmtest/stub"
	"github.com/writ-go/writ/module/models/openai"
)

func Example() {
	stubs := stub.OpenAI(nil, stub.Reply{Text: "Hello."}, stub.Reply{Status: 429})
	server := httptest.NewServer(stubs)
	defer server.Close()

	model, err := openai.New("gpt-5.1", &openai.Options{Key: "test-key", BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		text, err := model.Call(context.Background(), "Hi.")
		fmt.Println(text, err)
	}
	fmt.Println(stubs.Requests()[0].Body["messages"])
	// Output:
	// Hello. <nil>
	//  the model's rate limit is reached: openai answered 429 Too Many Requests: Too Many Requests; ask later or less often
	// [map[content:Hi. role:user]]
}
