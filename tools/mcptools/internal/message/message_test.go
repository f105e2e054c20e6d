package message

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{` {"jsonrpc":"2.0","id":1,"result":{"a":1}}`, `1 {"a":1} <nil>`},
		{`{"result":[],"id":"x","jsonrpc":"2.0"}`, `x [] <nil>`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, `1  no`},
		{`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"p":2}}`, `1 a/b {"p":2}`},
		{`{"jsonrpc":"2.0","method":"a/b","Params":1}`, `<nil> a/b `},
		{`{"jsonrpc":"2.0","result":{}}`, "cannot decode the response: it has neither a method nor an ID"},
		{`{"jsonrpc":"2.0","id":{},"result":{}}`, "cannot decode the response: the ID is an object"},
		{`{"jsonrpc":"1.0","id":1,"result":{}}`, "cannot decode the response: it is not JSON-RPC 2.0"},
		{`{"jsonrpc":"2.0","id":1,"result":{}`, "cannot decode the response: it is not JSON"},
		{`null`, "cannot decode the response: it is not JSON-RPC 2.0"},
		{`7`, "cannot decode the response: must be an object, not number"},
		{strings.Repeat("[", 1001), "cannot decode the response: it is nested more than 1000 levels deep"},
		{`{"a":[` + strings.Repeat("1,", MaxValues) + `1]}`,
			"the response has more than 1048576 JSON values, which is the limit"},
	} {
		msg, err := Decode([]byte(c.in))
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

// FuzzDecode compares the messages with those of the SDK.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`, `{"jsonrpc":"2.0","id":"a","method":"m","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{}}}`, `{"id":1,"id":2,"\u006aSONRPC":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msg, err := Decode(data)
		if err != nil {
			return
		}
		theirs, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			t.Skip("the SDK rejects it") // such as large numbers
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			same, ok := theirs.(*jsonrpc.Request)
			if !ok || same.ID != msg.ID || same.Method != msg.Method || !bytes.Equal(same.Params, msg.Params) {
				t.Errorf("%q: %+v, want %+v", data, msg, theirs)
			}
		case *jsonrpc.Response:
			same, ok := theirs.(*jsonrpc.Response)
			if ok && (same.ID != msg.ID || (same.Error == nil) != (msg.Error == nil) || same.Error == nil &&
				!bytes.Equal(same.Result, msg.Result)) {
				t.Errorf("%q: %+v, want %+v", data, msg, theirs)
			}
		}
	})
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got: %s\nwant: %s", what, got, want)
	}
}
