// Devserver is a Temporal server for development, on one machine and in memory. It ends when its standard input does:
//
//	go run -C agent/temporal/internal/devserver .
//
// It prints its address and its namespace. With -events, it suggests to workflows to continue as new after so many
// events. The server has a module of its own, because nothing else needs what it
// depends on.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"
)

func main() {
	events := flag.Int("events", 4096, "the length of a history after which a workflow is to continue as new")
	flag.Parse()
	server := temporaltest.NewServer(temporaltest.WithBaseServerOptions(
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): []dynamicconfig.ConstrainedValue{{Value: true}},
			dynamicconfig.HistoryCountSuggestContinueAsNew.Key():        []dynamicconfig.ConstrainedValue{{Value: *events}},
		})))
	defer server.Stop()
	fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
