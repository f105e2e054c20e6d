package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// outbox is a mail server whose list has pages of two mails.
type outbox struct {
	sent  []string
	fails map[string]bool // the next mail to them fails, and is not sent
	lost  map[string]bool // the next mail to them fails, and is sent
}

func newOutbox(t *testing.T, more ...tools.Source) (*outbox, *play) {
	o := &outbox{fails: map[string]bool{}, lost: map[string]bool{}}
	list := tool("mail.list_mails", tools.Hints{}, func(a arguments) (any, error) {
		page := max(a.Page, 1)
		last := min(2*page, len(o.sent))
		return map[string]any{
			"mails": o.sent[min(2*page-2, last):last], "page": page, "pages": max((len(o.sent)+1)/2, 1),
		}, nil
	})
	send := tool("mail.send_mail", tools.Hints{}, func(a arguments) (any, error) {
		failed := o.fails[a.To] || o.lost[a.To]
		if !o.fails[a.To] {
			o.sent = append(o.sent, a.To)
		}
		if o.fails[a.To], o.lost[a.To] = false, false; failed {
			return nil, errors.New("504")
		}
		return "sent", nil
	})
	status := tool("mail.get_status", tools.Hints{}, func(arguments) (any, error) { return "fine", nil })
	set, err := tools.NewSet(t.Context(), append(more, list, send, status)...)
	if err != nil {
		t.Fatal(err)
	}
	return o, newPlayOf(t, newWorld(nil), set, nil)
}

// TestCarefulProgram plays the program that the prompt describes: it catches the error of a call, looks, and repeats the
// call by the error's ID if it is missing. It is never held, and sends every mail once.
func TestCarefulProgram(t *testing.T) {
	t.Parallel()
	o, p := newOutbox(t)
	o.fails["bob"], o.lost["cid"], o.fails["eve"] = true, true, true
	if err := p.attempt(func(g *guest) {
		for _, mail := range []string{"ann", "bob", "cid", "dan", "eve"} {
			err := g.caught("mail.send_mail", to(mail))
			te, failed := errors.AsType[*tools.ToolError](err)
			if !failed {
				continue
			}
			if !slices.Contains(g.mails(9), mail) {
				g.call("mail.send_mail", to(mail), fmt.Sprintf(`{"again":%q}`, te.ID))
			}
		}
	}); err != nil {
		t.Error(err)
	}
	p.accept()
	if got := strings.Join(o.sent, " "); got != "ann bob cid dan eve" {
		t.Errorf("sent %s\n%s", got, strings.Join(p.story, "\n"))
	}
}

// mails reads the given number of pages, or all.
func (g *guest) mails(pages int) (all []string) {
	for page, last := 1, 1; page <= min(last, pages); page++ {
		list := as[struct {
			Mails []string
			Pages int
		}](g.call("mail.list_mails", fmt.Sprintf(`{"page":%d}`, page)))
		all, last = append(all, list.Mails...), list.Pages
	}
	return all
}

func TestAgainNeedsALook(t *testing.T) {
	t.Parallel()
	const advice = "Pass {distinct: [\"all\", \"E4\"], again: \"E4\"} as the second argument of every call of mail.send_mail, " +
		"with only those under again that did not take effect"
	const unseen = `mail.send_mail({"to":"dan"}) was held: E4 reported an error and may have taken effect, and nothing that ` +
		`was read since can show that. First `
	const blind = unseen + "check what took effect, with mail.list_mails or mail.get_status, and leave that out. " + advice
	const partly = unseen + `read mail.list_mails({"page":1}) to the end, which was read in part, and leave out what took ` +
		`effect. ` + advice
	read := func(pages int) func(*guest) { return func(g *guest) { g.mails(pages) } }
	none, status := func(*guest) {}, func(g *guest) { g.call("mail.get_status", `{}`) }
	for name, test := range map[string]struct {
		before, after func(*guest) // what is read before and after the failure
		held          string
	}{
		"no look":                             {none, none, blind},
		"a look before the failure":           {read(9), none, blind},
		"a list to its end":                   {none, read(9), ""},
		"a part of a list":                    {none, read(1), partly},
		"a part, and something else":          {none, func(g *guest) { g.mails(1); status(g) }, partly},
		"something else":                      {none, status, ""},
		"an earlier part, and something else": {read(1), status, partly},
		"an earlier end, and a part":          {read(9), read(1), partly},
		"an earlier part, and the end":        {read(1), read(9), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, p := newOutbox(t)
			for _, mail := range []string{"ann", "bob", "cid"} {
				_ = p.attempt(func(g *guest) { g.call("mail.send_mail", to(mail), `{"distinct":"all"}`) })
			}
			o.fails["dan"] = true
			id := ""
			first := p.attempt(func(g *guest) {
				test.before(g)
				err := g.caught("mail.send_mail", to("dan"), `{"distinct":"all"}`)
				te, _ := errors.AsType[*tools.ToolError](err)
				id = te.ID
				test.after(g)
				g.call("mail.send_mail", to("dan"), fmt.Sprintf(`{"again":%q}`, id))
			})
			if test.held = strings.ReplaceAll(test.held, "E4", id); test.held == "" && first != nil || test.held != "" && (first == nil || first.Error() != test.held) {
				t.Errorf("got  %v\nwant %s", first, test.held)
			}
			// A second time, the call is not held for this reason.
			second := p.attempt(func(g *guest) { g.call("mail.send_mail", to("dan"), fmt.Sprintf(`{"again":%q}`, id)) })
			if second != nil || len(o.sent) != 4 {
				t.Errorf("%v; sent %v", second, o.sent)
			}
		})
	}
}

// TestAgainWithoutReads repeats a call of a server that has no tool that reads.
func TestAgainWithoutReads(t *testing.T) {
	t.Parallel()
	failing := tool("chat.post", tools.Hints{}, func(arguments) (any, error) { return nil, errors.New("504") })
	set, err := tools.NewSet(t.Context(), failing)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayOf(t, newWorld(nil), set, nil)
	if err := p.attempt(func(g *guest) {
		for _, second := range []string{"", `{"again":"E1"}`, `{"again":"E2"}`} {
			if g.caught("chat.post", to("ann"), second) == nil {
				t.Error("the call did not fail")
			}
		}
	}); err != nil {
		t.Error(err)
	}
}

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

// TestOneStopForALoop passes what the first stop of a loop says with every call of the loop, after a look: the program is
// not stopped again, with and without what took effect.
func TestOneStopForALoop(t *testing.T) {
	t.Parallel()
	o, p := newOutbox(t)
	o.fails["bob"], o.lost["cid"], o.fails["eve"] = true, true, true
	all := []string{"ann", "bob", "cid", "dan", "eve", "fay"}
	_ = p.attempt(func(g *guest) {
		for _, mail := range all[:5] {
			_ = g.caught("mail.send_mail", to(mail))
		}
		g.throw("bug")
	})
	held := p.attempt(func(g *guest) {
		for _, mail := range all {
			g.call("mail.send_mail", to(mail))
		}
	})
	const want = `mail.send_mail({"to":"bob"}) was held: E2 made exactly this call and reported an error, so it may have ` +
		`taken effect. First check what took effect, with mail.list_mails or mail.get_status, and leave that out. Pass ` +
		`{distinct: ["all", "E2", "E3", "E5"], again: ["E2", "E3", "E5"]} as the second argument of every call of ` +
		`mail.send_mail, with only those under again that did not take effect`
	if held == nil || held.Error() != want {
		t.Errorf("got  %v\nwant %s", held, want)
	}
	if err := p.attempt(func(g *guest) {
		sent := g.mails(9)
		for _, mail := range all {
			if !slices.Contains(sent, mail) {
				g.call("mail.send_mail", to(mail), `{"distinct":["all","E2","E3","E5"],"again":["E2","E5"]}`)
			}
		}
	}); err != nil {
		t.Error(err)
	}
	p.accept()
	if got := strings.Join(o.sent, " "); got != "ann cid dan bob eve fay" {
		t.Errorf("sent %s\n%s", got, strings.Join(p.story, "\n"))
	}
}
