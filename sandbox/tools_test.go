package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// testTools returns the tools that the tests' programs may call.
func testTools(t testing.TB) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(),
		raw("echo", func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }),
		raw("text", answers(`"007"`)),
		raw("big", answers(`{"id": 9007199254740993, "small": 1, "exact": 0.1}`)),
		raw("nothing", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }),
		raw("proto", answers(`{"__proto__": {"admin": true}, "constructor": 1, "a": 2}`)),
		raw("deep", answers(nested(501))),
		tools.Func("refund", "Refund an order.", refund, nil),
		tools.Func("slow", "Wait.", slow, nil),
		tools.Func("meet", "Wait until n calls are here.", (&meeting{}).join, nil),
		tools.Func("fail", "Fail in the given way.", fail, nil),
		raw("plain", fails(errors.New("no money"))),
		raw("secret", fails(tools.HostOnly(errors.New("password is 1234")))),
		raw("fatal", fails(tools.Fatal(errors.New("the account is closed")))),
		raw("broken", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("index out of range") }),
		&tools.Tool{Namespace: "files", Name: "read_file", Handler: answers(`"some text"`),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],` +
				`"additionalProperties":false}`)},
		&tools.Tool{Namespace: "files", Name: "list", Handler: answers(`["a","b"]`)},
		&tools.Tool{Namespace: "wiki", Name: "page_get",
			Handler: answers(`"\n{\"title\": \"Mole\", \"comments\": [{\"by\": \"Rat\"}]}"`)},
		&tools.Tool{Namespace: "odd-server", Name: "get/all.items", Handler: answers(`[1]`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return searchable(set)
}

// searchable returns a set with tools.search and tools.describe.
func searchable(set *tools.Set) *tools.Set { return search.New(set, 64<<10).Extended() }

func raw(name string, h tools.Handler) *tools.Tool { return &tools.Tool{Name: name, Handler: h} }

func answers(text string) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(text), nil }
}

func fails(err error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, err }
}

// nested returns nested arrays.
func nested(depth int) string {
	text := make([]byte, 0, 2*depth)
	for range depth {
		text = append(text, '[')
	}
	for range depth {
		text = append(text, ']')
	}
	return string(text)
}

type refundArgs struct {
	Order   int64    `json:"order"`
	Reason  string   `json:"reason" jsonschema:"enum=broken,enum=late"`
	Amount  *float64 `json:"amount,omitempty" jsonschema:"minimum=0"`
	Tags    []string `json:"tags,omitempty"`
	Address *address `json:"address,omitempty"`
}

type address struct {
	City string `json:"city"`
}

type refunded struct {
	Order  int64  `json:"order"`
	Status string `json:"status"`
}

func refund(_ context.Context, in refundArgs) (refunded, error) {
	return refunded{in.Order, "refunded"}, nil
}

type slowArgs struct {
	MS int `json:"ms"`
}

func slow(ctx context.Context, in slowArgs) (int, error) {
	select {
	case <-time.After(time.Duration(in.MS) * time.Millisecond):
		return in.MS, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

type failArgs struct {
	Kind string `json:"kind"`
}

func fail(_ context.Context, in failArgs) (any, error) {
	return nil, &tools.ToolError{Kind: in.Kind, Message: "failed on purpose", Data: json.RawMessage(`{"code":42}`)}
}

// meeting is a tool whose calls return only when n of them are in progress.
type meeting struct {
	mu   sync.Mutex
	open map[string]*party
}

type party struct {
	here int
	full chan struct{}
}

type meetArgs struct {
	Where string `json:"where"`
	N     int    `json:"n"`
}

func (m *meeting) join(ctx context.Context, in meetArgs) (int, error) {
	m.mu.Lock()
	if m.open == nil {
		m.open = map[string]*party{}
	}
	p := m.open[in.Where]
	if p == nil {
		p = &party{full: make(chan struct{})}
		m.open[in.Where] = p
	}
	p.here++
	if p.here == in.N {
		close(p.full)
		delete(m.open, in.Where)
	}
	m.mu.Unlock()
	select {
	case <-p.full:
		return in.N, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("not enough calls: %w", ctx.Err())
	}
}
