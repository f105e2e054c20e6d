package tools_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
)

// realistic is an input schema like those of real servers.
const realistic = `{"type":"object","title":"ListIssuesArguments","properties":{
	"owner":{"type":"string","description":"Repository owner, as it stands in the address of the repository."},
	"repo":{"type":"string","description":"Repository name."},
	"state":{"type":"string","enum":["OPEN","CLOSED"],
	"description":"Filter by state; by default both open and closed issues are returned."},
	"labels":{"type":"array","items":{"type":"string"},"description":"Filter by labels, all of which an issue must have."},
	"since":{"type":"string","description":"Filter by date (ISO 8601 timestamp).","pattern":"^\\d{4}-\\d\\d-\\d\\d"},
	"orderBy":{"anyOf":[{"type":"string","enum":["CREATED_AT","UPDATED_AT","COMMENTS"]},{"type":"null"}],"default":null},
	"perPage":{"type":"number",
	"description":"Results per page for pagination (min 1, max 100).","minimum":1,"maximum":100,"default":30},
	"after":{"type":"string","description":"Cursor for pagination. Use the endCursor from the previous page's pageInfo."}},
	"required":["owner","repo"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`

func many(n int) group {
	list := make([]*tools.Tool, n)
	for i := range list {
		list[i] = &tools.Tool{
			Namespace: fmt.Sprintf("server%d", i%20), Name: fmt.Sprintf("list-issues-%d", i), Handler: handler("1", nil),
			InputSchema: json.RawMessage(realistic),
		}
	}
	return group{list: list}
}

// BenchmarkNewSet builds sets of 10,000 tools. The floor is the time to decode their schemas once,
// as the SDK does for a listing. Bytes is the memory of a set without its tools.
func BenchmarkNewSet(b *testing.B) {
	const n = 10_000
	source := many(n)
	var ratios []float64
	var kept uint64
	for b.Loop() {
		start := time.Now()
		for _, t := range source.list {
			var v map[string]any
			if err := json.Unmarshal(t.InputSchema, &v); err != nil {
				b.Fatal(err)
			}
		}
		raw := time.Since(start)
		before := heap()
		start = time.Now()
		set, err := tools.NewSet(b.Context(), source)
		took := time.Since(start)
		if err != nil || set.Len() != n {
			b.Fatal(err)
		}
		kept = heap() - before
		runtime.KeepAlive(set)
		ratios = append(ratios, float64(took)/float64(raw))
		b.ReportMetric(float64(took.Nanoseconds())/n, "ns/tool")
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(float64(kept)/n, "B-kept/tool")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkFirstCheck measures the first call of a tool, which compiles its schema.
func BenchmarkFirstCheck(b *testing.B) {
	source := many(1)
	for b.Loop() {
		set, err := tools.NewSet(b.Context(), source)
		if err != nil {
			b.Fatal(err)
		}
		if f := set.Bindings()[0].Check([]byte(`{"owner":"a","repo":"b"}`), nil); f != nil {
			b.Fatal(f)
		}
	}
}
