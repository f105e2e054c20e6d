package mcptools

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestBatches(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	full := strings.Repeat(ping+",", maxBatch-1) + ping
	for _, c := range []struct{ in, want string }{
		{"[" + ping + "]", "1 <nil>"},
		{" [" + ping + ", 7, " + ping + "]\n", "2 <nil>"},
		{"[" + full + "]", "64 <nil>"},
		{"[" + full + "," + ping + "]", "0 the answer cannot be read: the batch has more than 64 messages"},
		{"[]", "0 <nil>"},
		{"[" + ping, "0 the answer cannot be read: it is not JSON"},
		{"[" + ping + " " + ping + "]", "0 the answer cannot be read: it is not JSON"},
		{"[" + ping + "] x", "0 the answer cannot be read: it is not JSON"},
	} {
		list, err := decodeBatch([]byte(c.in))
		equal(t, c.in, fmt.Sprint(len(list), " ", err), c.want)
	}
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := decodeBatch(data)
		if len(list) > maxBatch || err != nil && list != nil {
			t.Fatalf("%q: %d messages, %v", data, len(list), err)
		}
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{` {"jsonrpc":"2.0","id":1,"result":{"a":1}}`, `1 {"a":1} <nil>`},
		{`{"result":[],"id":"x","jsonrpc":"2.0"}`, `x [] <nil>`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, `1  no`},
		{`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"p":2}}`, `1 a/b {"p":2}`},
		{`{"jsonrpc":"2.0","method":"a/b","Params":1}`, `<nil> a/b `},
		{`{"jsonrpc":"2.0","result":{}}`, "the answer cannot be read: it has neither a method nor an id"},
		{`{"jsonrpc":"2.0","id":{},"result":{}}`, "the answer cannot be read: the id is an object"},
		{`{"jsonrpc":"1.0","id":1,"result":{}}`, "the answer cannot be read: it is not JSON-RPC 2.0"},
		{`{"jsonrpc":"2.0","id":1,"result":{}`, "the answer cannot be read: it is not JSON"},
		{`null`, "the answer cannot be read: it is not JSON-RPC 2.0"},
		{`7`, "the answer cannot be read: must be an object, not number"},
		{strings.Repeat("[", 1001), "the answer cannot be read: it is nested more than 1000 levels deep"},
		{`{"a":[` + strings.Repeat("1,", maxValues) + `1]}`, "the answer has more than 1048576 JSON values, which is the most that is accepted"},
	} {
		msg, err := decodeMessage([]byte(c.in))
		got := fmt.Sprint(err)
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			got = fmt.Sprint(msg.ID.Raw(), " ", msg.Method, " ", string(msg.Params))
		case *jsonrpc.Response:
			got = fmt.Sprint(msg.ID.Raw(), " ", string(msg.Result), " ", msg.Error)
		}
		equal(t, c.in[:min(len(c.in), 100)], got, c.want)
	}
}

// FuzzMessage compares with the SDK: what is a message here is the same one there.
func FuzzMessage(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`, `{"jsonrpc":"2.0","id":"a","method":"m","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{}}}`, `{"id":1,"id":2,"\u006aSONRPC":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msg, err := decodeMessage(data)
		if err != nil {
			return
		}
		theirs, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			t.Skip("it reads less") // of large numbers, for one
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			same, ok := theirs.(*jsonrpc.Request)
			if !ok || same.ID != msg.ID || same.Method != msg.Method || !bytes.Equal(same.Params, msg.Params) {
				t.Errorf("%q: %+v, want %+v", data, msg, theirs)
			}
		case *jsonrpc.Response:
			same, ok := theirs.(*jsonrpc.Response)
			if ok && (same.ID != msg.ID || (same.Error == nil) != (msg.Error == nil) || same.Error == nil && !bytes.Equal(same.Result, msg.Result)) {
				t.Errorf("%q: %+v, want %+v", data, msg, theirs)
			}
		}
	})
}
