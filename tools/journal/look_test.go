package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// TestIDOfError makes calls that fail in every way.
func TestIDOfError(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct {
		hints tools.Hints
		want  string
	}{
		tools.KindFailed: {tools.Hints{Class: tools.Effect}, "E1"}, "quota": {tools.Hints{}, "E1"},
		tools.KindTimeout: {}, tools.KindUnknown: {}, tools.KindUnavailable: {}, tools.KindDenied: {}, tools.KindTooLarge: {},
		"read": {tools.Hints{Class: tools.Read}, ""}, "final": {tools.Hints{ErrorsAreFinal: true}, ""},
	} {
		failing := tool("it", test.hints, func(arguments) (any, error) {
			return nil, &tools.ToolError{Kind: kind, Message: "no", ID: "E9"} // such as that of a nested run
		})
		set, err := tools.NewSet(t.Context(), failing)
		if err != nil {
			t.Fatal(err)
		}
		for _, attempt := range []dispatch.Attempt{journal.New(nil).Attempt(), nil} {
			want := test.want
			if attempt == nil {
				want = ""
			}
			_, err = dispatch.New(set, attempt).Issue(tools.Call{Args: json.RawMessage(`{}`)}, 0).Perform(context.Background())
			te, ok := errors.AsType[*tools.ToolError](err)
			if !ok || te.ID != want {
				t.Errorf("%s: %+v", kind, err)
			}
		}
	}
}

// TestFreshIsOffered calls tools that nobody classified again after another tool has acted.
func TestFreshIsOffered(t *testing.T) {
	t.Parallel()
	for text, offered := range map[string]bool{
		"product_list": true, "stock": true, "address_entries: The people in the office.": true,
		"send_mail": false, "createUser": false, "order.update": false, "post": false, "outbox: Sends a mail.": false,
		"mailer: This tool deletes mails": false, "outcomes: Publishes.": false,
	} {
		name, description, _ := strings.Cut(text, ": ")
		unclassified, other := tool("s."+name, tools.Hints{}, nothing), tool("s.act", tools.Hints{Class: tools.Effect}, nothing)
		unclassified.Name, unclassified.Description = name, description
		set, err := tools.NewSet(t.Context(), unclassified, other)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlayOf(t, newWorld(nil), set, nil)
		path := set.Bindings()[0].Path()
		if path == "s.act" {
			path = set.Bindings()[1].Path()
		}
		_ = p.attempt(func(g *guest) { g.call(path, `{}`); g.call("s.act", `{}`); g.throw("bug") })
		held := p.attempt(func(g *guest) { g.call(path, `{}`) })
		if !isHold(held) || strings.Contains(held.Error(), "{fresh: true}") != offered {
			t.Errorf("%s: %v", text, held)
		}
	}
}

func nothing(arguments) (any, error) { return nil, nil }
