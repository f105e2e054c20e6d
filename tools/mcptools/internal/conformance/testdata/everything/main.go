// Everything is the SDK's own server for the conformance suite, served by package serve. The SDK's
// module contains it as a program; the test compiles that in, with its main function renamed.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler:  completionHandler,
		SubscribeHandler:   subscribeHandler,
		UnsubscribeHandler: unsubscribeHandler,
	})
	registerTools(server)
	registerResources(server)
	registerPrompts(server)
	err := serve.Run(context.Background(), func(serve.Principal) *mcp.Server { return server }, &serve.Options{
		Transport: serve.HTTP,
		Addr:      "127.0.0.1:0",
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		log.Fatal(err)
	}
}
