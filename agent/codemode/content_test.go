package codemode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestContentBlocks returns images and files from programs, and values that only look like them.
func TestContentBlocks(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	for _, test := range []struct{ code, result, blocks string }{
		{`({type: "image", mimeType: "image/png", data: "aGk="})`,
			`"[image/png, 2 bytes: content block 1 of this response]"`,
			`[{"type":"image","mimeType":"image/png","data":"aGk="}]`},
		{`({z: 1, charts: [{type: "image", mimeType: "image/png", data: "aGk="}, 12345678901234567890n.toString()],
			a: {type: "resource", resource: {uri: "file:///r.csv", mimeType: "text/csv", text: "a,b"}}})`,
			`{"z":1,"charts":["[image/png, 2 bytes: content block 1 of this response]","12345678901234567890"],` +
				`"a":"[resource file:///r.csv: content block 2 of this response]"}`,
			`[{"type":"image","mimeType":"image/png","data":"aGk="},` +
				`{"type":"resource","resource":{"uri":"file:///r.csv","mimeType":"text/csv","text":"a,b"}}]`},
		{`[{type: "audio", mimeType: "audio/wav", data: "aGk="}, {type: "text", text: "hi"},
			{type: "resource_link", uri: "https://example.com/a", name: "a"}]`,
			`["[audio/wav, 2 bytes: content block 1 of this response]",{"type":"text","text":"hi"},` +
				`"[link to https://example.com/a: content block 2 of this response]"]`,
			`[{"type":"audio","mimeType":"audio/wav","data":"aGk="},` +
				`{"type":"resource_link","uri":"https://example.com/a","name":"a"}]`},
		{`[{type: "image", mimeType: "image/png", data: "not base64!"}, {type: "image", id: 7}, {type: "resource"}]`,
			`[{"type":"image","mimeType":"image/png","data":"not base64!"},{"type":"image","id":7},{"type":"resource"}]`,
			`[]`},
	} {
		result, err := session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": test.code}})
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(result.StructuredContent.(map[string]any)["result"])
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := json.Marshal(result.Content[1:])
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, string(value), test.result) || !sameJSON(t, string(blocks), test.blocks) {
			t.Errorf("%s\ngot  %s with %s\nwant %s with %s", test.code, value, blocks, test.result, test.blocks)
		}
	}
}

// TestIncompleteContent says why an image is not shown.
func TestIncompleteContent(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"type":"image","mimeType":"image/png","data":"zz!"}`:                          "its data is not base64",
		`[{"type":"image","mimeType":"image/png","data":"data:image/png;base64,aGk="}]`: "its data is not base64",
		`{"type":"audio","data":"aGk="}`:                                                "its mimeType is missing",
		`{"type":"image","id":7}`:                                                       "",
		`{"type":"resource","data":"x"}`:                                                "",
	} {
		got, blocks, warning := takeContent(json.RawMessage(value))
		if string(got) != value || len(blocks) > 0 || !strings.HasSuffix(warning, want) || (want == "") != (warning == "") {
			t.Errorf("%s: got %s, %d blocks, %q", value, got, len(blocks), warning)
		}
	}
}

// TestContentOrder keeps the order of properties and the digits of numbers next to a block.
func TestContentOrder(t *testing.T) {
	t.Parallel()
	const block = `{"type":"image","mimeType":"image/png","data":"aGk="}`
	got, blocks, _ := takeContent(json.RawMessage(`{"z":12345678901234567890,"b":` + block + `,"a":1.50}`))
	want := `{"z":12345678901234567890,"b":"[image/png, 2 bytes: content block 1 of this response]","a":1.50}`
	if string(got) != want || len(blocks) != 1 {
		t.Errorf("got %s and %d blocks", got, len(blocks))
	}
}

func FuzzTakeContent(f *testing.F) {
	f.Add(`{"type":"image","mimeType":"image/png","data":"aGk="}`)
	f.Add(`[{"type":"resource","resource":{"uri":"u","text":"t"}},{"type":1},null,"type"]`)
	f.Fuzz(func(t *testing.T, text string) {
		value, blocks, _ := takeContent(json.RawMessage(text))
		if len(blocks) > maxBlocks || json.Valid([]byte(text)) && !json.Valid(value) {
			t.Errorf("got %s and %d blocks", value, len(blocks))
		}
		if _, err := json.Marshal(&mcp.CallToolResult{Content: blocks}); err != nil {
			t.Error(err)
		}
	})
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
