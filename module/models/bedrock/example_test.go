package bedrock_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/models/bedrock"
	"github.com/writ-go/writ/signature"
)

type question struct {
	Question string `json:"question"`
}

type answer struct {
	Answer string `json:"answer"`
}

// A program leaves Config out: region and credentials then come from the environment.
func ExampleNew() {
	server := httptest.NewServer(&stub{replies: []reply{{content: `[{"text":"[[ ## answer ## ]]\nThimphu."}]`}}})
	defer server.Close()
	config := &aws.Config{Region: "eu-west-1", Credentials: credential, BaseEndpoint: &server.URL}

	model, err := bedrock.New(context.Background(), "us.amazon.nova-pro-v1:0", &bedrock.Options{Config: config})
	if err != nil {
		panic(err)
	}
	capitals := signature.Must(signature.New[question, answer]("Answer the question."))
	pred, err := module.NewPredict(capitals, model, nil).Run(context.Background(), question{"The capital of Bhutan?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(pred.Output.Answer)
	// Output: Thimphu.
}
