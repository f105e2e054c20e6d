package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// allocated returns how many bytes f allocates in total. Nothing else may run at the same time.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestThirtyThousandToolsInOnePage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range sample(10_100, 30_000) {
		fmt.Fprintf(&page, `,{"name":"tool%d","description":"Does something."}`, i)
	}
	s := serve(t, script{"tools/list": result(`{"tools":[` + page.String()[1:] + `]}`)}, nil)
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "10000")
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": it has more than 10000 tools; the rest is left out`)
	equal(t, "pins", fmt.Sprint(len(s.Pins()["s"])), "10000")
}

// The pages of a listing together are bounded.
func TestListingOfAnySize(t *testing.T) {
	t.Parallel()
	n := 0
	tool := strings.Repeat("x", 100<<10)
	s := serve(t, script{"tools/list": func(json.RawMessage) string {
		n++
		return fmt.Sprintf(`"result":{"tools":[{"name":"t%d","description":%q}],"nextCursor":"%d"}`, n, tool, n)
	}}, &Options{maxListing: 1 << 20})
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "10")
	equal(t, "warning", s.Warnings()[len(s.Warnings())-1], `mcp server "s": its tools take more than 1048576 bytes `+
		`or 16384 JSON values; the rest is left out`)
}

// One page is bounded, too, by its bytes and by the number of values in it. Each value may be a pattern to compile.
func TestPageOfAnySize(t *testing.T) {
	t.Parallel()
	tool := func(n, size, patterns int) string {
		return fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"properties":{"":{}%s}}}`, n,
			strings.Repeat("x", size), strings.Repeat(`,"p":{"pattern":"x"}`, patterns))
	}
	for _, c := range []struct{ size, patterns, tools int }{{10_000, 0, 99}, {10, 500, 16}, {10, 0, 1000}} {
		var page []string
		for n := range 1000 {
			page = append(page, tool(n, c.size, c.patterns))
		}
		s := serve(t, script{"tools/list": result(`{"tools":[` + strings.Join(page, ",") + `]}`)},
			&Options{maxListing: 1_000_000})
		equal(t, "tools", fmt.Sprint(len(list(t, s))), fmt.Sprint(c.tools))
		if c.tools < 1000 {
			equal(t, "warning", strings.Join(s.Warnings(), "\n"), `mcp server "s": its tools take more than 1000000 bytes `+
				`or 15625 JSON values; the rest is left out`)
		}
	}
}

func TestOversizedTools(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","description":"` + strings.Repeat("x", 1000) + `"}`
	text := strings.Repeat("Reads a file, which must be there. ", 40)
	s := serve(t,
		script{"tools/list": result(fmt.Sprintf(`{"tools":[{"name":"a","description":%q,"inputSchema":%s,`+
			`"outputSchema":%[2]s},{"name":"b","title":%[1]q}]}`, text, schema)),
			"tools/call": result(`{"content":[{"type":"text","text":"fine"}]}`)}, &Options{maxDescription: 100, maxSchema: 1000})
	named := list(t, s)
	equal(t, "a", fmt.Sprintf("%q %s %s", named["a"].Description, named["a"].InputSchema, named["a"].OutputSchema),
		`"Reads a file, which must be there. Reads a file, which must be there. Reads a file, which must be th"  `)
	equal(t, "b", named["b"].Description, named["a"].Description)
	equal(t, "result", call(t.Context(), named["a"], `{}`), `"fine"`)
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": the description of tool "a" has 1400 bytes; it is cut to 100`,
		`mcp server "s": the input schema of tool "a" has 1034 bytes and is ignored: its arguments are not checked`,
		`mcp server "s": the output schema of tool "a" has 1034 bytes and is ignored: its results are not checked`,
		`mcp server "s": the description of tool "b" has 1400 bytes; it is cut to 100`)
}

// A result that is too large is refused, and memory is bounded by the limit for one message.
func TestTwentyMegabyteResult(t *testing.T) {
	s := start(t, fake("big"), &Options{MaxMessage: 1 << 20})
	tool := list(t, s)["t"]
	used := allocated(func() {
		equal(t, "result", call(t.Context(), tool, `{"size":20000000}`),
			"too_large: the call was made, but the response has 20000073 bytes; the limit is 1048576; ask for less")
	})
	if used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	equal(t, "next", call(t.Context(), tool, `{"size":3}`), `"xxx"`)
}

// A line that is not a message is skipped without being kept, whatever its size.
func TestHugeLinesThatAreNotMessages(t *testing.T) {
	s := start(t, fake("babbles"), &Options{MaxMessage: 1 << 20})
	tool := list(t, s)["t"]
	used := allocated(func() { equal(t, "result", call(t.Context(), tool, `{}`), `"fine"`) })
	if used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	equal(t, "lines", fmt.Sprint(s.Status()[0].Noise), "2")
}

// A late response is dropped, and the server receives the cancellation.
func TestResultAfterCancellation(t *testing.T) {
	t.Parallel()
	var late wireMessage
	ctx, cancel := context.WithCancel(t.Context())
	cancelledCall := make(chan string, 1)
	s := servePipe(t, nil, talker(func(m wireMessage, say func(string)) {
		switch {
		case m.Method == "notifications/cancelled":
			cancelledCall <- string(m.Params)
			say(late.text("too late"))
			say(late.text("again"))
		case m.Method != "tools/call":
		case late.ID == nil:
			late = m
			cancel()
		default:
			say(m.text("fine"))
		}
	}).run)
	tool := list(t, s)["t"]
	equal(t, "call", call(ctx, tool, `{}`), "cancelled: canceled; whether the call took effect is unknown")
	equal(t, "the server hears", <-cancelledCall, fmt.Sprintf(`{"reason":"context canceled","requestId":%s}`, late.ID))
	equal(t, "next", call(t.Context(), tool, `{}`), `"fine"`)
	equal(t, "replies still awaited", fmt.Sprint(current(s).exchange.Pending()), "0")
}

// Responses to unknown requests are dropped, and so are second responses.
func TestResponsesToUnknownRequests(t *testing.T) {
	t.Parallel()
	stray := wireMessage{}
	s := servePipe(t, nil, talker(func(m wireMessage, say func(string)) {
		if m.Method != "tools/call" {
			return
		}
		for _, id := range []string{`999999`, `"x"`, `-1`, `0`, `1`} {
			stray.ID = json.RawMessage(id)
			say(stray.text("not yours"))
		}
		say(m.text("first"))
		say(m.text("second"))
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"third"}}`, m.ID))
	}).run)
	tool := list(t, s)["t"]
	for range 3 {
		equal(t, "result", call(t.Context(), tool, `{}`), `"first"`)
	}
	equal(t, "status", brief(s), "s ready 2025-11-25, 1 tools, 0 restarts")
}

// A response with another ID does not answer the call.
func TestResponseWithAnotherID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, nil, talker(func(m wireMessage, say func(string)) {
			if m.Method == "tools/call" {
				say(strings.Replace(m.text("wrong"), `"id":`, `"id":1`, 1))
			}
		}).run)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		equal(t, "result", call(ctx, list(t, s)["t"], `{}`),
			"timeout: no answer in time; whether the call took effect is unknown")
	})
}

// Error codes that the SDK uses for its own errors do not make an answered call look as if it
// had not been made.
func TestErrorCodesOfTheSDK(t *testing.T) {
	t.Parallel()
	calls := 0
	code := 0
	s := serve(t, script{"tools/call": func(json.RawMessage) string {
		calls++
		return fmt.Sprintf(`"error":{"code":%d,"message":"no such file"}`, code)
	}}, nil)
	tool := list(t, s)["t"]
	for _, code = range []int{-32003, -32004, -32000, -32001} {
		equal(t, "result", call(t.Context(), tool, `{}`), "failed: no such file")
	}
	equal(t, "calls", fmt.Sprint(calls), "4")
	equal(t, "status", brief(s), "s ready 2025-11-25, 1 tools, 0 restarts")
}

// Many unwanted notifications have no effect.
func TestStormOfNotices(t *testing.T) {
	t.Parallel()
	s := servePipe(t, nil, func(r io.Reader, w io.Writer) {
		script{"tools/call": func(json.RawMessage) string {
			for i := range sample(2_000, 20_000) {
				fmt.Fprintln(w, notify([]string{"tools/list_changed", "progress", "message", "cancelled", "made/up"}[i%5],
					`{"progressToken":"1","progress":1,"requestId":1}`))
			}
			return `"result":{"content":[{"type":"text","text":"fine"}]}`
		}}.whole().run(r, w)
	})
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`), `"fine"`)
	equal(t, "warnings", strings.Join(s.Warnings(), "\n"), "")
}

// Malformed tools count as tools, and the warnings about them are bounded.
func TestManyMalformedTools(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&page, `,{"name":"t%d","annotations":5}`, i)
	}
	s := serve(t, script{"tools/list": result(`{"tools":[` + page.String()[1:] + `,{"name":"fine"}]}`)},
		&Options{maxTools: 3000})
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "0")
	warnings := s.Warnings()
	equal(t, "warnings", fmt.Sprint(len(warnings)), "101")
	equal(t, "first", warnings[0],
		`mcp server "s": tool "t0" is left out because its definition is malformed: annotations: must be an object, `+
			`not number`)
	equal(t, "last", warnings[100], `mcp server "s": and 2901 more warnings`)
}

// A listing ends with its context, even in the middle of a page.
func TestListingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l := current(serve(t, nil, nil)).server.newListing()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := l.add(ctx, &toolPage{Tools: []json.RawMessage{json.RawMessage(`{"name":"t"}`)}})
	equal(t, "listing", fmt.Sprint(len(l.tools), " ", err), "0 context canceled")
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("x", maxName)
	s := serve(t,
		script{"tools/list": result(fmt.Sprintf(`{"tools":[{"name":%q},{"name":"%[1]sx"},{"name":"%[1]sx","title":5}]}`,
			most))}, nil)
	equal(t, "kept", list(t, s)[most].Name, most)
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": a tool is left out because its name has 257 bytes; the limit is 256`)
}

// The fingerprints of the first listings are bounded, and a server cannot replace them.
func TestFingerprintsAreBounded(t *testing.T) {
	t.Parallel()
	n := 0
	s := serve(t, script{"tools/list": func(json.RawMessage) string {
		n++
		return fmt.Sprintf(`"result":{"tools":[{"name":"t","description":"%d"},{"name":"t%[1]d"}]}`, n)
	}}, &Options{maxTools: 3})
	for range 5 {
		list(t, s)
	}
	equal(t, "known", fmt.Sprint(len(s.servers[0].first)), "3")
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": tool "t" has changed since it was first listed`,
		`mcp server "s": it has listed more than 3 different tools; changes to 1 of them will not be noticed`)
}

// The tools whose fingerprints are kept do not depend on chance.
func TestFingerprintsAreKeptInOrder(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/list": result(`{"tools":[{"name":"d"},{"name":"b"},{"name":"a"},{"name":"c"}]}`)}, nil)
	list(t, s)
	srv := s.servers[0]
	srv.first, srv.o.maxTools = nil, 2
	srv.keep(&listing{server: srv, pins: srv.pins})
	equal(t, "known", fmt.Sprint(slices.Sorted(maps.Keys(srv.first))), "[a b]")
}

// A line that is an array of millions of elements costs no more memory than its size.
func TestBatchOfMillions(t *testing.T) {
	s := start(t, fake("batches"), nil)
	tool := list(t, s)["t"]
	used := allocated(func() { equal(t, "result", call(t.Context(), tool, `{}`), `"fine"`) })
	if used > 32<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	equal(t, "noise", fmt.Sprint(s.Status()[0].Noise), "1")
}
