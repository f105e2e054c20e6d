package declare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// servers are the real servers of testdata/servers.
var servers = []string{"filesystem", "memory", "everything", "sequential-thinking", "playwright", "git", "mongodb",
	"notion"}

// recorded returns the tools of a recorded listing.
func recorded(t testing.TB, server string) []*tools.Tool {
	t.Helper()
	return listed(t, strings.ReplaceAll(server, "-", "_"), filepath.Join("testdata", "servers", server+".json"))
}

// company returns the tools of the servers in testdata/business.
func company(t testing.TB) (all []*tools.Tool) {
	t.Helper()
	for _, server := range []string{"erp", "facilities", "crm", "wiki"} {
		all = append(all, listed(t, server, filepath.Join("testdata", "business", server+".json"))...)
	}
	return all
}

func listed(t testing.TB, namespace, file string) []*tools.Tool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var listing struct {
		Tools []struct {
			Name, Description         string
			InputSchema, OutputSchema json.RawMessage
			Annotations               struct{ ReadOnlyHint bool }
			Execution                 struct{ TaskSupport string }
		}
	}
	if err := json.Unmarshal(raw, &listing); err != nil {
		t.Fatal(err)
	}
	var list []*tools.Tool
	for _, x := range listing.Tools {
		if x.Execution.TaskSupport == "required" { // mcptools leaves it out
			continue
		}
		tool := &tools.Tool{
			Namespace: namespace, Name: x.Name, Description: x.Description,
			InputSchema: x.InputSchema, OutputSchema: x.OutputSchema, Handler: nothing,
		}
		if x.Annotations.ReadOnlyHint {
			tool.Claimed = tools.Read
		}
		list = append(list, tool)
	}
	return list
}

// TestRealServers compares the default declarations of real servers with testdata.
func TestRealServers(t *testing.T) {
	t.Parallel()
	for _, server := range servers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			compare(t, filepath.Join("servers", server+".ts"), code(declare.Markdown(newSet(t, recorded(t, server)...), 0)))
		})
	}
}
