package mcptools

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// denseSize returns the size of a dense response, in bytes. The variable can set it to the
// default of MaxMessage.
func denseSize() int {
	if n, err := strconv.Atoi(os.Getenv("WRIT_DENSE_BYTES")); err == nil {
		return n
	}
	return sample(4, 6) << 20
}

// some returns a list that is not too dense to read, but too dense to decode.
func some() string { return strings.Repeat("{},", message.MaxValues*9/10) + "{}" }

// dense returns a response, without its head, that is many times as large once it is decoded.
func dense(kind string, size int) string {
	ones, objects := strings.Repeat("1,", size/2)+"1", strings.Repeat("{},", size/3)+"{}"
	switch kind {
	case "content":
		return `"result":{"content":[` + ones + `]}`
	case "structured":
		return `"result":{"structuredContent":{"a":[` + objects + `]}}`
	case "members":
		return `"result":{` + strings.Repeat(`"":0,`, size/5) + `"":0}`
	case "error":
		return `"error":{"code":1,"message":"no","data":[` + objects + `]}`
	case "question":
		return `"result":{"resultType":"input_required","inputRequests":{"a":[` + objects + `]}}`
	case "fewer blocks":
		return `"result":{"content":[` + some() + `],"x":"` + strings.Repeat("x", size/2) + `"}`
	case "text":
		return `"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}`
	case "fewer values":
		return `"result":{"structuredContent":{"a":[` + some() + `]}}`
	case "fewer asked":
		return `"result":{"resultType":"input_required","inputRequests":{"a":[` + some() + `]}}`
	case "tools":
		return `"result":{"tools":[` + ones + `]}`
	case "schema":
		return `"result":{"tools":[{"name":"t","inputSchema":{"x":[` + some() + `]}}]}`
	case "headers":
		return `"result":{"tools":[{"name":"t","inputSchema":{"x-mcp-header":[` + some() + `]}}]}`
	}
	panic(kind)
}

// denseOthers returns messages that are not responses to a request.
func denseOthers(size int) []string {
	objects := strings.Repeat("{},", size/3) + "{}"
	var all []string
	for _, list := range []string{objects, some()}[:sample(1, 2)] {
		for _, text := range []string{
			`{"jsonrpc":"2.0","id":[%s],"result":{}}`,
			`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"requestedSchema":{"x":[%s]}}}`,
			`{"jsonrpc":"2.0","id":8,"method":"roots/list","params":{"_meta":{"x":[%s]}}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[%s],"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[%s]}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":[%s]}}`,
			`[%s]`,
		} {
			all = append(all, fmt.Sprintf(text, list))
		}
	}
	return all
}

// serveDense runs a server that responds to a call, or a listing, with what its variable names.
func serveDense() {
	kind := os.Getenv("KIND")
	s := script{"tools/call": result(`{"content":[{"type":"text","text":"fine"}]}`)}
	switch {
	case kind == "others":
		s["tools/call"] = func(json.RawMessage) string {
			for _, text := range denseOthers(denseSize()) {
				fmt.Println(text)
			}
			return `"result":{"content":[{"type":"text","text":"fine"}]}`
		}
	case kind == "tools", kind == "schema", kind == "headers":
		s["tools/list"] = result(dense(kind, denseSize())[len(`"result":`):])
	default:
		answer := dense(kind, denseSize())
		s["tools/call"] = func(json.RawMessage) string { return answer }
	}
	serveStdio(s)
}

const (
	made     = "the call was made, but the response "
	most     = ", which is the limit; ask for less"
	tooDense = "too_large: " + made + "has more than 1048576 JSON values" + most
	tooMany  = "too_large: " + made + "has more than 262144 JSON values" + most
)

// denseResults are the results of calls with such responses.
var denseResults = map[string]string{
	"content": tooDense, "structured": tooDense, "members": tooDense, "error": tooDense, "question": tooDense,
	"fewer blocks": "invalid_result: the call was made, but its result is malformed: content: has more than 100000 " +
		"elements",
	"fewer asked":  tooMany,
	"fewer values": `{"a":[` + some() + `]}`,
}

// denseKinds returns the kinds to test.
func denseKinds() []string {
	kinds := slices.Sorted(maps.Keys(denseResults))
	return kinds[:sample(3, len(kinds))]
}

// frugal fails the test if f allocates much more than twice the size of a response. Nothing
// else may run at the same time.
func frugal(t *testing.T, what string, size int, f func()) {
	t.Helper()
	begin := time.Now()
	used := allocated(f)
	took := time.Since(begin).Round(time.Millisecond)
	t.Logf("%s: %d MiB of %d MiB were allocated, in %v", what, used>>20, size>>20, took)
	if used > 2*uint64(size)+32<<20 {
		t.Errorf("%s: %d bytes were allocated", what, used)
	}
}

// denseProcess starts a server that responds with one kind.
func denseProcess(t *testing.T, kind string, o *Options) *Servers {
	t.Helper()
	config := fake("dense")
	if config.Env == nil {
		config.Env = map[string]string{}
	}
	config.Env["KIND"], config.Env["WRIT_DENSE_BYTES"] = kind, strconv.Itoa(denseSize())
	return start(t, config, o)
}

// denseCall calls a tool and compares the result.
func denseCall(t *testing.T, what, kind string, tool *tools.Tool) {
	t.Helper()
	var got string
	frugal(t, what, denseSize(), func() { got = call(t.Context(), tool, `{}`) })
	if want := denseResults[kind]; got != want {
		t.Errorf("%s:\n got: %.200s\nwant: %.200s", what, got, want)
	}
}

// TestDenseAnswers receives responses from processes that are too dense to decode.
func TestDenseAnswers(t *testing.T) {
	for _, kind := range denseKinds() {
		s := denseProcess(t, kind, nil)
		denseCall(t, kind, kind, list(t, s)["t"])
	}
}

// TestDenseOthers receives messages that are not responses before a response.
func TestDenseOthers(t *testing.T) {
	s := denseProcess(t, "others", nil)
	tool := list(t, s)["t"]
	ctx := WithProgress(t.Context(), func(Progress) {})
	frugal(t, "others", sample(7, 14)*denseSize(), func() { equal(t, "result", call(ctx, tool, `{}`), `"fine"`) })
}

// TestDenseOverHTTP receives dense responses over HTTP, in both forms.
func TestDenseOverHTTP(t *testing.T) {
	for _, kind := range denseKinds() {
		answer := dense(kind, denseSize())
		say := func(w http.ResponseWriter, media, before string, r request, after string) {
			w.Header().Set("Content-Type", media)
			for _, part := range []string{before, `{"jsonrpc":"2.0","id":`, string(r.ID), `,`, answer, `}`, after} {
				_, _ = io.WriteString(w, part)
			}
		}
		for form, answered := range map[string]func(http.ResponseWriter, *http.Request, request){
			"json": func(w http.ResponseWriter, _ *http.Request, r request) { say(w, "application/json", "", r, "") },
			"events": func(w http.ResponseWriter, _ *http.Request, r request) {
				say(w, "text/event-stream", "data: ", r, "\n\n")
			},
		} {
			s := open(t, ServerConfig{URL: serveWeb(t, script{}.handler(asJSON, answered))}, nil)
			denseCall(t, kind+" as "+form, kind, list(t, s)["t"])
		}
	}
}

// TestDenseListings receives listings that are too dense to decode. A schema that is too large
// is ignored.
func TestDenseListings(t *testing.T) {
	for _, kind := range []string{"tools", "schema", "headers"} {
		s := denseProcess(t, kind, nil)
		var named map[string]*tools.Tool
		frugal(t, kind, denseSize(), func() { named = list(t, s) })
		if wanted := kind == "schema"; wanted != (named["t"] != nil) {
			t.Errorf("%s: the tools are %v\n%s", kind, named, brief(s))
		}
	}
}

// TestDenseDeclared does not validate a result with too many values.
func TestDenseDeclared(t *testing.T) {
	text := `{"a":[` + strings.Repeat("1,", message.MaxDecoded) + `1]}`
	s := serve(t, script{
		"tools/list": result(`{"tools":[{"name":"t","outputSchema":{"type":"object"}}]}`),
		"tools/call": result(`{"structuredContent":` + text + `}`),
	}, nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`), "invalid_result: "+
		strings.TrimPrefix(tooMany, "too_large: ")+" "+text)
}

// TestLongText refuses a text by the size of its encoding.
func TestLongText(t *testing.T) {
	s := denseProcess(t, "text", &Options{MaxResult: 1 << 19})
	tool := list(t, s)["t"]
	frugal(t, "text", denseSize(), func() {
		equal(t, "result", call(t.Context(), tool, `{}`), "too_large: "+made+"has more than 524288 bytes"+most)
	})
}
