// Devserver is a Temporal server for development, on one machine and in memory. It ends when its standard input does:
//
//	go run -C agent/temporal/internal/devserver .
//
// It prints its address and its namespace. The server has a module of its own, because nothing else needs what it
// depends on.
package main

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/temporaltest"
)

func main() {
	server := temporaltest.NewServer()
	defer server.Stop()
	fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
