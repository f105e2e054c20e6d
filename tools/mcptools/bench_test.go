package mcptools

import (
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// thousands returns a listing of n tools with schemas of about 600 bytes, in pages.
func thousands(n, perPage int) script {
	const schema = `{"type":"object","properties":{"path":{"type":"string","description":"Where the item is, as an ` +
		`absolute path with forward slashes.","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":1000,` +
		`"default":50,"description":"At most so many results."},"order":{"type":"string","enum":["name","size",` +
		`"modified"],"description":"What the results are sorted by."},"filters":{"type":"array",` +
		`"items":{"type":"object","properties":{"field":{"type":"string"},"value":{"type":["string","number","null"]}}` +
		`,"required":["field"]}},"recursive":{"type":"boolean","default":false}},"required":["path"],` +
		`"additionalProperties":false}`
	var pages []string
	for from := 0; from < n; from += perPage {
		var list []string
		for i := from; i < from+perPage; i++ {
			list = append(list,
				fmt.Sprintf(`{"name":"tool_%d","description":"Lists the items below a path, and what is known of each of `+
					`them.","inputSchema":%s}`, i, schema))
		}
		next := ""
		if from+perPage < n {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, from/perPage+1)
		}
		pages = append(pages, `"result":{"tools":[`+strings.Join(list, ",")+`]`+next+`}`)
	}
	return script{"tools/list": func(params json.RawMessage) string {
		var p struct{ Cursor string }
		_ = json.Unmarshal(params, &p)
		page := 0
		_, _ = fmt.Sscan(p.Cursor, &page)
		return pages[page]
	}}
}

// BenchmarkSet10000 builds a Set from ten thousand listed tools. x-raw is the ratio of the time to
// the SDK's own listing, and B-kept/tool is the memory of a Set.
func BenchmarkSet10000(b *testing.B) {
	const n = 10_000
	s := serve(b, thousands(n, 500), nil)
	raw := sdkSession(b, thousands(n, 500))
	var ratios []float64
	var kept float64
	for b.Loop() {
		began := time.Now()
		count := 0
		for _, err := range raw.Tools(b.Context(), nil) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		floor := time.Since(began)
		before := heap()
		began = time.Now()
		set, err := tools.NewSet(b.Context(), s)
		took := time.Since(began)
		if err != nil || set.Len() != n || count != n {
			b.Fatal(set.Len(), count, err)
		}
		kept = float64(heap()-before) / n
		runtime.KeepAlive(set)
		ratios = append(ratios, float64(took)/float64(floor))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(kept, "B-kept/tool")
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// sdkSession returns a session of the SDK alone with a script.
func sdkSession(b *testing.B, s script) *mcp.ClientSession {
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		s.whole().run(theirs, theirs)
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "raw", Version: "0"}, nil)
	session, err := client.Connect(b.Context(), &mcp.IOTransport{Reader: ours, Writer: ours},
		&mcp.ClientSessionOptions{ProtocolVersion: olderVersion})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return session
}
