package message

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestReusedID checks that requests with the same ID are counted: only the first is
// delivered until its response has been sent.
func TestReusedID(t *testing.T) {
	t.Parallel()
	var e Exchange
	id := func(n int) jsonrpc.ID {
		id, err := jsonrpc.MakeID(float64(n))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	receive := func(n int) string {
		deliver, err := e.Receive(&jsonrpc.Request{ID: id(n), Method: "ping"})
		return fmt.Sprintf("%v %v", deliver, err)
	}
	equal(t, "first", receive(1), "true <nil>")
	equal(t, "again", receive(1), "false <nil>")
	e.Answered(&jsonrpc.Response{ID: id(1)})
	equal(t, "after the response", receive(1), "true <nil>")
	for n := 2; n <= MaxOpen; n++ {
		equal(t, "others", receive(n), "true <nil>")
	}
	equal(t, "one too many", receive(MaxOpen+1), "false "+ErrFlood.Error())
}
