package mcptools

import (
	"fmt"
	"strings"
	"testing"
)

func TestBatches(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	full := strings.Repeat(ping+",", maxBatch-1) + ping
	for _, c := range []struct{ in, want string }{
		{"[" + ping + "]", "1 <nil>"},
		{" [" + ping + ", 7, " + ping + "]\n", "2 <nil>"},
		{"[" + full + "]", "64 <nil>"},
		{"[" + full + "," + ping + "]", "0 the batch has more than 64 messages"},
		{"[]", "0 <nil>"},
		{"[" + ping, "0 EOF"},
		{"[" + ping + " " + ping + "]", "0 expected comma after array element"},
		{"[" + ping + "] x", "0 there is more after the batch"},
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
