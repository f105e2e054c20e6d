package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// attackInputs are the inputs of all attacks.
var attackInputs = map[string]any{
	"data": json.RawMessage(`{"__proto__":{"admin":true},"constructor":1,"toString":2,"then":3,"a":{"b":[1,2,` +
		`{"c":"d"}]}}`),
	"rows":    json.RawMessage(`[1,2,3]`),
	"big":     json.RawMessage(`9007199254740993`),
	"label":   json.RawMessage(`"p\ud83d\ude00\u2028\u0000"`),
	"nothing": nil,
}

// performed records the calls that the tools of an attack performed, and those that the
// host observed.
type performed struct {
	mu       sync.Mutex
	done     []string
	observed []string
}

func (p *performed) handler(tool string, h tools.Handler) tools.Handler {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		p.mu.Lock()
		p.done = append(p.done, tool+string(args))
		p.mu.Unlock()
		return h(ctx, args)
	}
}

func (p *performed) observe(c sandbox.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observed = append(p.observed, c.Tool+string(c.Args))
}

// compare describes calls that were performed but not recorded, recorded but not
// performed, or not observed.
func (p *performed) compare(out *sandbox.Outcome) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var recorded, good, ended []string
	for _, c := range outCalls(out) {
		call := c.Tool + string(c.Args)
		recorded = append(recorded, call)
		if !c.Pending {
			ended = append(ended, call)
		}
		if !c.Pending && c.Error == nil {
			good = append(good, call)
		}
	}
	for _, pair := range []struct {
		what          string
		these, amidst []string
	}{
		{"performed but not recorded", p.done, recorded},
		{"recorded but not performed", good, p.done},
		{"ended but not observed", ended, p.observed},
		{"observed but not ended", p.observed, ended},
	} {
		if rest := without(pair.these, pair.amidst); len(rest) > 0 {
			return fmt.Sprintf("%s: %.500q", pair.what, rest)
		}
	}
	return ""
}

// without returns these without those, each as often as it occurs.
func without(these, those []string) []string {
	rest := slices.Clone(these)
	for _, s := range those {
		if i := slices.Index(rest, s); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}

func outCalls(out *sandbox.Outcome) []sandbox.Call {
	if out == nil {
		return nil
	}
	return out.Calls
}

// attackTools returns the tools that an attack may call.
func attackTools() (*tools.Set, *performed) {
	p := &performed{}
	var list []tools.Source
	add := func(name string, h tools.Handler) {
		list = append(list, raw(name, p.handler(name, h)))
	}
	add("echo", func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil })
	add("proto",
		answers(`{"__proto__":{"admin":true},"constructor":{"prototype":1},"hasOwnProperty":1,"toJSON":2,"then":3,`+
			`"a":1,"a":2}`))
	add("deep", answers(nested(499)))
	add("deeper", answers(nested(10_000)))
	add("odd", answers(`["\ud800","\udc00\ud800","\u0000",-0,1e400]`))
	add("halves", answers(`["\ud800","\udc00\ud800","\u0000",-0,1e-400,123456789012345678901234567890]`))
	add("twice", answers(`{"a":1} {"a":2}`))
	add("mangled", answers(`{"a":`))
	add("wide", answers("["+strings.Repeat("1,", 100_000)+"1]"))
	add("fail", fails(&tools.ToolError{Kind: "failed", Message: "failed on purpose",
		Data: json.RawMessage(`{"__proto__":{"admin":true},"code":42}`)}))
	add("leaky", fails(errors.New("failed on purpose")))
	add("secret", fails(tools.HostOnly(errors.New("the password is 1234"))))
	add("broken", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("index out of range") })
	add("wait", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("soon", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		time.Sleep(20 * time.Millisecond)
		return json.RawMessage(`1`), nil
	})
	list = append(list,
		&tools.Tool{Namespace: "files", Name: "read", Handler: p.handler("files.read", answers(`"some text"`)),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],` +
				`"additionalProperties":false}`)},
		&tools.Tool{Namespace: "files", Name: "list", Handler: p.handler("files.list", answers(`["a","b"]`))},
	)
	set, err := tools.NewSet(context.Background(), list...)
	if err != nil {
		panic(err)
	}
	return set, p
}
