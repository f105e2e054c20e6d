package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
)

// program is a kind of program that models write, with failures of the servers and rewritten
// programs. story lists the actions of the programs.
type program struct {
	name   string
	fates  map[int]fate
	play   func(p *play)
	story  string
	server func(w *world) string
	want   string // the final state of the server
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(careful, computing, ordering, retrying, looking) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, newWorld(test.fates), nil)
			test.play(p)
			p.check(test.story)
			if got := test.server(p.world); got != test.want {
				t.Errorf("the server has %s, not %s", got, test.want)
			}
		})
	}
}

func mails(w *world) string   { return strings.Join(w.mails, ", ") }
func posts(w *world) string   { return strings.Join(w.posts, ", ") }
func tickets(w *world) string { return fmt.Sprint(w.tickets) }
func balance(w *world) string { return fmt.Sprint(w.balance[""]) }
func orders(w *world) string  { return strings.Join(w.orders, ", ") }
func light(w *world) string   { return w.light }

func door(w *world) string {
	if w.open {
		return "open"
	}
	return "closed"
}

func to(name string) string { return fmt.Sprintf(`{"to":%q}`, name) }

// sendAll looks up and writes to two people:
//
//	for (const to of ["ann", "bob"]) { get_user({to}); send({to}) }
func sendAll(g *guest) {
	for _, name := range []string{"ann", "bob"} {
		g.call("mail.get_user", to(name))
		g.call("mail.send", to(name))
	}
}

// sendMissing lists first, and writes to those who have not got a mail.
func sendMissing(second string) func(g *guest) {
	return func(g *guest) {
		sent := as[[]string](g.call("mail.list", `{}`))
		for _, name := range []string{"ann", "bob"} {
			if !slices.Contains(sent, name) {
				g.call("mail.send", to(name), second)
			}
		}
	}
}

// Programs that are careless at first and careful later.
var careful = []program{
	{"get then act, 504 that was applied", map[int]fate{0: failAfter}, func(p *play) {
		_ = p.attempt(sendAll)
		_ = p.attempt(sendAll)
		_ = p.attempt(sendMissing(`{"again":"E2"}`))
		p.accept()
	}, `
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.send({"to":"ann"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
		held: mail.send({"to":"ann"}) was held: E2 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and
			| leave that out. Pass {distinct: "E2", again: "E2"} as the second argument of every call of
			| mail.send, with only those under again that did not take effect
		attempt
			mail.list({}) → ["ann"]
			mail.send({"to":"bob"}, {"again":"E2"}) → 2
		accepted`, mails, "ann, bob"},
	{"get then act, 504 that was not applied", map[int]fate{0: failBefore}, func(p *play) {
		_ = p.attempt(sendAll)
		_ = p.attempt(sendAll)
		_ = p.attempt(sendMissing(`{"again":"E2"}`))
		p.accept()
	}, `
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.send({"to":"ann"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
		held: mail.send({"to":"ann"}) was held: E2 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and
			| leave that out. Pass {distinct: "E2", again: "E2"} as the second argument of every call of
			| mail.send, with only those under again that did not take effect
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}, {"again":"E2"}) → 1
			mail.send({"to":"bob"}, {"again":"E2"}) → 2
		accepted`, mails, "ann, bob"},
	{"list then act, 504 that was applied", map[int]fate{1: failAfter}, func(p *play) {
		_ = p.attempt(sendMissing(""))
		_ = p.attempt(sendMissing(""))
		p.accept()
	}, `
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}) → 1
			mail.send({"to":"bob"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.list({}) → ["ann","bob"]
		accepted`, mails, "ann, bob"},
	{"list then act, 504 that was not applied", map[int]fate{1: failBefore}, func(p *play) {
		_ = p.attempt(sendMissing(""))
		_ = p.attempt(sendMissing(""))
		_ = p.attempt(sendMissing(`{"distinct":"all","again":"E3"}`))
		p.accept()
	}, `
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}) → 1
			mail.send({"to":"bob"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.list({}) → ["ann"]
		held: mail.send({"to":"bob"}) was held: E3 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and
			| leave that out. Pass {distinct: ["all", "E3"], again: "E3"} as the second argument of every
			| call of mail.send, with only those under again that did not take effect
		attempt
			mail.list({}) → ["ann"]
			mail.send({"to":"bob"}, {"distinct":"all","again":"E3"}) → 2
		accepted`, mails, "ann, bob"},
	{"an answer that was refused, and then the effects are only listed", nil, func(p *play) {
		_ = p.attempt(sendMissing(""))
		_ = p.attempt(func(g *guest) { g.call("mail.list", `{}`) })
		p.accept()
	}, `
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}) → 1
			mail.send({"to":"bob"}) → 2
		attempt
			mail.list({}) → ["ann","bob"]
		accepted`, mails, "ann, bob"},
	{"a batch with new text", map[int]fate{1: failBefore}, func(p *play) {
		batch := func(text, second string, names ...string) func(g *guest) {
			return func(g *guest) {
				var calls []*guestCall
				for _, name := range names {
					calls = append(calls, g.start("mail.send", fmt.Sprintf(`{"to":%q,"text":%q}`, name, text), second))
				}
				g.all(calls...)
			}
		}
		_ = p.attempt(batch("Hello!", "", "ann", "bob", "eve"))
		_ = p.attempt(batch("Good day.", "", "ann", "bob", "eve"))
		_ = p.attempt(func(g *guest) {
			g.call("mail.list", `{}`)
			batch("Good day.", `{"distinct":"all","again":"E2"}`, "bob")(g)
		})
		p.accept()
	}, `
		attempt
			mail.send({"to":"ann","text":"Hello!"}) → 1
			mail.send({"to":"bob","text":"Hello!"}) threw tool mail.send: 504
			mail.send({"to":"eve","text":"Hello!"}) → 2
		threw: tool mail.send: 504
		attempt
		held: mail.send({"to":"ann","text":"Good day."}) was held: earlier programs of this step called
		| mail.send with other arguments: E2 mail.send({"to":"bob","text":"Hello!"}) (reported an
		| error; it may have taken effect); E1 mail.send({"to":"ann","text":"Hello!"}) (done); E3
		| mail.send({"to":"eve","text":"Hello!"}) (done). First check what took effect, with mail.list
		| or mail.get_user, and leave that out. If this call repeats one that is done, pass {same:
		| "E1"} as the second argument to take its result. If it is another effect, pass {distinct:
		| ["all", "E2"], again: "E2"} as the second argument of every call of mail.send, with only
		| those under again that did not take effect
		attempt
			mail.list({}) → ["ann","eve"]
			mail.send({"to":"bob","text":"Good day."}, {"distinct":"all","again":"E2"}) → 3
		accepted`, mails, "ann, eve, bob"},
}

// Programs that compute effects from reads.
var computing = []program{
	{"read, compute, write; 504 that was applied", map[int]fate{0: failAfter}, func(p *play) {
		draw := func(g *guest) {
			n := as[int](g.call("bank.get_balance", `{}`))
			g.call("bank.set_balance", fmt.Sprintf(`{"n":%d}`, n-10))
		}
		_ = p.attempt(draw)
		_ = p.attempt(draw)
		_ = p.attempt(func(g *guest) { g.call("bank.get_balance", `{}`) })
		p.accept()
	}, `
		attempt
			bank.get_balance({}) → 100
			bank.set_balance({"n":90}) threw tool bank.set_balance: 504
		threw: tool bank.set_balance: 504
		attempt
			bank.get_balance({}) → 90
		held: bank.set_balance({"n":80}) was held: earlier programs of this step called bank.set_balance
		| with other arguments: E2 bank.set_balance({"n":90}) (reported an error; it may have taken
		| effect). bank.get_balance({}) now gives another value than before, perhaps because of that.
		| First check what took effect, with bank.get_balance, and leave that out. If it is another
		| effect, pass {distinct: "E2", again: "E2"} as the second argument of every call of
		| bank.set_balance, with only those under again that did not take effect
		attempt
			bank.get_balance({}) → 90
		accepted`, balance, "90"},
	{"read, compute, write; 504 that was not applied", map[int]fate{0: failBefore}, func(p *play) {
		draw := func(g *guest) {
			n := as[int](g.call("bank.get_balance", `{}`))
			g.call("bank.set_balance", fmt.Sprintf(`{"n":%d}`, n-10))
		}
		_ = p.attempt(draw)
		_ = p.attempt(draw)
		p.accept()
	}, `
		attempt
			bank.get_balance({}) → 100
			bank.set_balance({"n":90}) threw tool bank.set_balance: 504
		threw: tool bank.set_balance: 504
		attempt
			bank.get_balance({}) → 100
			bank.set_balance({"n":90}) → 90
		accepted`, balance, "90"},
	{"count then create, timeout that was applied", map[int]fate{0: timeoutAfter}, func(p *play) {
		create := func(g *guest) {
			n := as[int](g.call("tickets.count", `{}`))
			g.call("tickets.create", fmt.Sprintf(`{"n":%d}`, n+1))
		}
		_ = p.attempt(create)
		_ = p.attempt(create)
		_ = p.attempt(func(g *guest) { g.call("tickets.count", `{}`) })
		p.accept()
	}, `
		attempt
			tickets.count({}) → 5
			tickets.create({"n":6}) threw tool tickets.create: no answer in time; whether it took effect
			| is unknown. Do not call it again; report it
		threw: tool tickets.create: no answer in time; whether it took effect is unknown. Do not call it
			| again; report it
		attempt
			tickets.count({}) → 6
		held: tickets.create({"n":7}) was held: earlier programs of this step called tickets.create with
		| other arguments: E2 tickets.create({"n":6}) (whether it took effect is unknown). First check
		| what took effect, with tickets.count, and leave that out. If it is another effect, pass
		| {distinct: "E2"} as the second argument of every call of tickets.create
		attempt
			tickets.count({}) → 6
		accepted`, tickets, "6"},
	{"count then create, timeout that was not applied", map[int]fate{0: timeoutBefore}, func(p *play) {
		create := func(g *guest) {
			n := as[int](g.call("tickets.count", `{}`))
			g.call("tickets.create", fmt.Sprintf(`{"n":%d}`, n+1))
		}
		_ = p.attempt(create)
		_ = p.attempt(create)
	}, `
		attempt
			tickets.count({}) → 5
			tickets.create({"n":6}) threw tool tickets.create: no answer in time; whether it took effect
			| is unknown. Do not call it again; report it
		threw: tool tickets.create: no answer in time; whether it took effect is unknown. Do not call it
			| again; report it
		attempt
			tickets.count({}) → 5
		stopped: journal: whether E2 tickets.create({"n":6}) took effect is unknown, so the call was
			| not made again; find out what happened, set Options.Reconcile, or, if repeating it does no
			| harm, set the tool's class to Idempotent or Read`, tickets, "5"},
	{"count then create, and an error after it", nil, func(p *play) {
		create := func(g *guest) {
			n := as[int](g.call("tickets.count", `{}`))
			g.call("tickets.create", fmt.Sprintf(`{"n":%d}`, n+1))
			g.throw("x is undefined")
		}
		_ = p.attempt(create)
		_ = p.attempt(create)
		_ = p.attempt(func(g *guest) {
			g.call("tickets.count", `{}`)
			g.call("tickets.create", `{"n":7}`, `{"same":"E2"}`)
		})
		p.accept()
	}, `
		attempt
			tickets.count({}) → 5
			tickets.create({"n":6}) → 6
		threw: x is undefined
		attempt
			tickets.count({}) → 6
		held: tickets.create({"n":7}) was held: earlier programs of this step called tickets.create
		| with other arguments: E2 tickets.create({"n":6}) (done). If this call repeats one that is
		| done, pass {same: "E2"} as the second argument to take its result. If it is another
		| effect, pass {distinct: "all"} as the second argument of every call of tickets.create
		attempt
			tickets.count({}) → 6
			tickets.create({"n":7}, {"same":"E2"}) → 6, recorded
		accepted`, tickets, "6"},
	{"create, and use what was created", map[int]fate{1: failBefore}, func(p *play) {
		create := func(second string) func(g *guest) {
			return func(g *guest) {
				id := as[int](g.call("orders.create", `{"name":"desk"}`))
				if second != "" {
					g.call("orders.find", `{"name":"table"}`)
				}
				g.call("orders.rename", fmt.Sprintf(`{"n":%d,"name":"table"}`, id), second)
			}
		}
		_ = p.attempt(create(""))
		_ = p.attempt(create(""))
		_ = p.attempt(create(`{"again":"E2"}`))
		p.accept()
	}, `
		attempt
			orders.create({"name":"desk"}) → 0
			orders.rename({"n":0,"name":"table"}) threw tool orders.rename: 504
		threw: tool orders.rename: 504
		attempt
			orders.create({"name":"desk"}) → 0, recorded
		held: orders.rename({"n":0,"name":"table"}) was held: E2 made exactly this call and reported an
			| error, so it may have taken effect. First check what took effect, with orders.find, and
			| leave that out. Pass {distinct: "E2", again: "E2"} as the second argument of every call of
			| orders.rename, with only those under again that did not take effect
		attempt
			orders.create({"name":"desk"}) → 0, recorded
			orders.find({"name":"table"}) → -1
			orders.rename({"n":0,"name":"table"}, {"again":"E2"}) → 0
		accepted`, orders, "table"},
}

// Programs whose effects undo each other.
var ordering = []program{
	{"open, close, open", nil, func(p *play) {
		bug := func(path, second string) func(g *guest) {
			return func(g *guest) { g.call(path, `{}`, second); g.throw("bug") }
		}
		_ = p.attempt(bug("door.open", ""))
		_ = p.attempt(bug("door.close", ""))
		_ = p.attempt(bug("door.open", ""))
		_ = p.attempt(func(g *guest) { g.call("door.open", `{}`, `{"again":"E1"}`) })
		_ = p.attempt(func(g *guest) { g.call("door.open", `{}`, `{"again":"E1"}`) })
		p.accept()
	}, `
		attempt
			door.open({}) → true
		threw: bug
		attempt
			door.close({}) → false
		threw: bug
		attempt
		held: door.open({}) was held: E1 made exactly this call, but E2 door.close({}) was made
		| after it. To take the result of E1, pass {same: "E1"} as the second argument; to do it
		| once more, pass {again: "E1"}
		attempt
			door.open({}, {"again":"E1"}) → true
		attempt
			door.open({}, {"again":"E1"}) → true, recorded
		accepted; orphans: E2`, door, "open"},
	{"open, close, open, in one program", nil, func(p *play) {
		_ = p.attempt(func(g *guest) { g.call("door.open", `{}`); g.throw("bug") })
		_ = p.attempt(func(g *guest) { g.call("door.close", `{}`); g.call("door.open", `{}`) })
		_ = p.attempt(func(g *guest) { g.call("door.close", `{}`); g.call("door.open", `{}`, `{"again":"E1"}`) })
		p.accept()
	}, `
		attempt
			door.open({}) → true
		threw: bug
		attempt
			door.close({}) → false
		held: door.open({}) was held: E1 made exactly this call, but E2 door.close({}) was made
		| after it. To take the result of E1, pass {same: "E1"} as the second argument; to do it
		| once more, pass {again: "E1"}
		attempt
			door.close({}) → false, recorded
			door.open({}, {"again":"E1"}) → true
		accepted`, door, "open"},
	{"on, off, on", nil, func(p *play) {
		set := func(text string) func(g *guest) {
			return func(g *guest) { g.call("light.set", fmt.Sprintf(`{"text":%q}`, text)); g.throw("bug") }
		}
		_ = p.attempt(set("on"))
		_ = p.attempt(set("off"))
		_ = p.attempt(set("on"))
	}, `
		attempt
			light.set({"text":"on"}) → "on"
		threw: bug
		attempt
			light.set({"text":"off"}) → "off"
		threw: bug
		attempt
			light.set({"text":"on"}) → "on"
		threw: bug`, light, "on"},
	{"on, off, on, in one program", nil, func(p *play) {
		set := func(texts ...string) func(g *guest) {
			return func(g *guest) {
				for _, text := range texts {
					g.call("light.set", fmt.Sprintf(`{"text":%q}`, text))
				}
				g.throw("bug")
			}
		}
		_ = p.attempt(set("on"))
		_ = p.attempt(set("off", "on"))
		_ = p.attempt(set("on", "off"))
	}, `
		attempt
			light.set({"text":"on"}) → "on"
		threw: bug
		attempt
			light.set({"text":"off"}) → "off"
			light.set({"text":"on"}) → "on"
		threw: bug
		attempt
			light.set({"text":"on"}) → "on"
			light.set({"text":"off"}) → "off"
		threw: bug`, light, "off"},
}

// Rewritten programs that repeat calls, and unchanged ones.
var retrying = []program{
	{"again, kept in the next program", map[int]fate{0: failBefore}, func(p *play) {
		again := func(g *guest) {
			g.call("mail.list", `{}`)
			g.call("mail.send", to("ann"), `{"again":"E1"}`)
		}
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
		_ = p.attempt(func(g *guest) { again(g); g.throw("bug") })
		_ = p.attempt(again)
		p.accept()
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}, {"again":"E1"}) → 1
		threw: bug
		attempt
			mail.list({}) → ["ann"]
			mail.send({"to":"ann"}, {"again":"E1"}) → 1, recorded
		accepted`, mails, "ann"},
	{"again, kept although the call failed again", map[int]fate{0: failBefore, 1: failAfter}, func(p *play) {
		again := func(g *guest) {
			g.call("mail.list", `{}`)
			g.call("mail.send", to("ann"), `{"again":"E1"}`)
		}
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
		_ = p.attempt(again)
		_ = p.attempt(again)
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.list({}) → []
			mail.send({"to":"ann"}, {"again":"E1"}) threw tool mail.send: 504
		threw: tool mail.send: 504
		attempt
			mail.list({}) → ["ann"]
		held: mail.send({"to":"ann"}) was held: E3 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and leave that
			| out. Pass {distinct: "E3", again: "E3"} as the second argument of every call of mail.send,
			| with only those under again that did not take effect`, mails, "ann"},
	{"a loop that tries again", map[int]fate{0: failAfter}, func(p *play) {
		_ = p.attempt(func(g *guest) {
			for range 3 {
				if g.caught("mail.send", to("ann")) == nil {
					break
				}
			}
		})
		_ = p.attempt(sendMissing(""))
		_ = p.attempt(sendMissing(`{"again":"E1"}`))
		p.accept()
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: 504
		held: mail.send({"to":"ann"}) was held: E1 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and
			| leave that out. Pass {distinct: "E1", again: "E1"} as the second argument of every call of
			| mail.send, with only those under again that did not take effect
		attempt
			mail.list({}) → ["ann"]
		held: mail.send({"to":"bob"}) was held: earlier programs of this step called mail.send with
		| other arguments: E1 mail.send({"to":"ann"}) (reported an error; it may have taken effect).
		| First check what took effect, with mail.list or mail.get_user, and leave that out. If it is
		| another effect, pass {distinct: "E1", again: "E1"} as the second argument of every call of
		| mail.send, with only those under again that did not take effect
		attempt
			mail.list({}) → ["ann"]
			mail.send({"to":"bob"}, {"again":"E1"}) → 2
		accepted`, mails, "ann, bob"},
	{"an error that was caught, and the same call in the next step", map[int]fate{0: failAfter}, func(p *play) {
		_ = p.attempt(func(g *guest) { _ = g.caught("mail.send", to("ann")) })
		p.accept()
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: 504
		accepted
		attempt
		held: mail.send({"to":"ann"}) was held: E1 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, with mail.list or mail.get_user, and
			| leave that out. Pass {distinct: "E1", again: "E1"} as the second argument of every call of
			| mail.send, with only those under again that did not take effect`, mails, "ann"},
	{"a timeout that was caught, and the same call in the next step", map[int]fate{0: timeoutAfter}, func(p *play) {
		_ = p.attempt(func(g *guest) { _ = g.caught("mail.send", to("ann")) })
		p.accept()
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: no answer in time; whether it took effect is
			| unknown. Do not call it again; report it
		accepted
		attempt
		stopped: journal: whether E1 mail.send({"to":"ann"}) took effect is unknown, so the call was
			| not made again; find out what happened, set Options.Reconcile, or, if repeating it does no
			| harm, set the tool's class to Idempotent or Read`, mails, "ann"},
	{"a server that cannot be reached", map[int]fate{0: reject, 1: reject}, func(p *play) {
		_ = p.attempt(func(g *guest) { _ = g.caught("mail.send", to("ann")); g.call("mail.send", to("ann")) })
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
		p.accept()
	}, `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: connection refused
			mail.send({"to":"ann"}) threw tool mail.send: connection refused
		threw: tool mail.send: connection refused
		attempt
			mail.send({"to":"ann"}) → 1
		accepted`, mails, "ann"},
	{"the same program, after an error of its own", nil, func(p *play) {
		_ = p.attempt(func(g *guest) { sendAll(g); g.throw("bug") })
		_ = p.attempt(sendAll)
		p.accept()
	}, `
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.send({"to":"ann"}) → 1
			mail.get_user({"to":"bob"}) → "bob@example.org"
			mail.send({"to":"bob"}) → 2
		threw: bug
		attempt
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.send({"to":"ann"}) → 1, recorded
			mail.get_user({"to":"bob"}) → "bob@example.org"
			mail.send({"to":"bob"}) → 2, recorded
		accepted`, mails, "ann, bob"},
	{"a program without its effect", nil, func(p *play) {
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")); g.throw("bug") })
		_ = p.attempt(func(g *guest) { g.call("mail.send", to("bob"), `{"distinct":"all"}`) })
		p.accept()
	}, `
		attempt
			mail.send({"to":"ann"}) → 1
		threw: bug
		attempt
			mail.send({"to":"bob"}, {"distinct":"all"}) → 2
		accepted; orphans: E1`, mails, "ann, bob"},
}

// Programs with reads and with unclassified tools.
var looking = []program{
	{"reads are never held", map[int]fate{0: failAfter, 1: timeoutAfter}, func(p *play) {
		look := func(g *guest) {
			g.call("mail.list", `{}`)
			g.call("mail.get_user", to("ann"))
			g.call("mail.get_user", to("bob"))
			g.call("mail.list", `{}`)
		}
		_ = p.attempt(func(g *guest) {
			look(g)
			_ = g.caught("mail.send", to("ann"))
			_ = g.caught("mail.send", to("bob"))
			g.throw("bug")
		})
		_ = p.attempt(look)
		p.accept()
		_ = p.attempt(look)
		p.accept()
	}, `
		attempt
			mail.list({}) → []
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.get_user({"to":"bob"}) → "bob@example.org"
			mail.list({}) → []
			mail.send({"to":"ann"}) threw tool mail.send: 504
			mail.send({"to":"bob"}) threw tool mail.send: no answer in time; whether it took effect is
			| unknown. Do not call it again; report it
		threw: bug
		attempt
			mail.list({}) → ["ann","bob"]
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.get_user({"to":"bob"}) → "bob@example.org"
			mail.list({}) → ["ann","bob"]
		accepted
		attempt
			mail.list({}) → ["ann","bob"]
			mail.get_user({"to":"ann"}) → "ann@example.org"
			mail.get_user({"to":"bob"}) → "bob@example.org"
			mail.list({}) → ["ann","bob"]
		accepted`, mails, "ann, bob"},
	{"an unclassified list, another page of it, and the next step", nil, func(p *play) {
		page := func(n int, second string) func(g *guest) {
			return func(g *guest) { g.call("shop.product_list", fmt.Sprintf(`{"page":%d}`, n), second) }
		}
		_ = p.attempt(page(0, ""))
		p.accept()
		_ = p.attempt(page(0, ""))
		_ = p.attempt(func(g *guest) { page(0, `{"fresh":true}`)(g); g.throw("bug") })
		_ = p.attempt(page(1, ""))
		p.accept()
		_ = p.attempt(page(0, ""))
	}, `
		attempt
			shop.product_list({"page":0}) → ["a","b"]
		accepted
		attempt
		held: shop.product_list({"page":0}) was held: E1 made exactly this call in an earlier step,
			| and it is done. If shop.product_list only reads, pass {fresh: true} as the second argument.
			| To take the result of E1, pass {same: "E1"} as the second argument; to do it once
			| more, pass {again: "E1"}
		attempt
			shop.product_list({"page":0}, {"fresh":true}) → ["a","b"]
		threw: bug
		attempt
			shop.product_list({"page":1}) → ["c","d"]
		accepted
		attempt
			shop.product_list({"page":0}) → ["a","b"]`, posts, ""},
	{"an unclassified server", map[int]fate{1: failBefore}, func(p *play) {
		post := func(list, second string) func(g *guest) {
			return func(g *guest) {
				seen := as[[]string](g.call("chat.messages", `{}`, list))
				for _, name := range []string{"ann", "bob"} {
					if !slices.Contains(seen, name) {
						g.call("chat.post", to(name), second)
					}
				}
			}
		}
		_ = p.attempt(post("", ""))
		_ = p.attempt(post("", ""))
		_ = p.attempt(post(`{"fresh":true}`, ""))
		_ = p.attempt(post(`{"fresh":true}`, `{"distinct":"all","again":"E3"}`))
		p.accept()
	}, `
		attempt
			chat.messages({}) → []
			chat.post({"to":"ann"}) → 1
			chat.post({"to":"bob"}) threw tool chat.post: 504
		threw: tool chat.post: 504
		attempt
		held: chat.messages({}) was held: E1 made exactly this call, but E2 chat.post({"to":"ann"})
			| was made after it. If chat.messages only reads, pass {fresh: true} as the second argument. To
			| take the result of E1, pass {same: "E1"} as the second argument; to do it once more, pass
			| {again: "E1"}
		attempt
			chat.messages({}, {"fresh":true}) → ["ann"]
		held: chat.post({"to":"bob"}) was held: E3 made exactly this call and reported an error, so it
			| may have taken effect. First check what took effect, if a tool can show that, and leave that
			| out. Pass {distinct: ["all", "E3"], again: "E3"} as the second argument of every call of
			| chat.post, with only those under again that did not take effect
		attempt
			chat.messages({}, {"fresh":true}) → ["ann"]
			chat.post({"to":"bob"}, {"distinct":"all","again":"E3"}) → 2
		accepted`, posts, "ann, bob"},
	{"a listing changes while it is read", nil, func(p *play) {
		_ = p.attempt(func(g *guest) {
			n := as[int](g.call("tickets.count", `{}`))
			g.call("tickets.create", fmt.Sprintf(`{"n":%d}`, n+1))
			g.throw("bug")
		})
		_ = p.attempt(func(g *guest) {
			if as[int](g.call("tickets.count", `{}`)) > 5 {
				return
			}
			n := as[int](g.call("tickets.count", `{}`))
			g.call("tickets.create", fmt.Sprintf(`{"n":%d}`, n+1), `{"distinct":"all"}`)
		})
		p.accept()
	}, `
		attempt
			tickets.count({}) → 5
			tickets.create({"n":6}) → 6
		threw: bug
		attempt
			tickets.count({}) → 6
		accepted`, tickets, "6"},
}

// Concurrent chains end in any order. If the program runs again, it is held before it draws
// twice.
func TestParallelChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		p := newPlay(t, newWorld(nil), nil)
		p.rand = rand.New(rand.NewPCG(seed, 1))
		names := []string{"a", "b", "c", "d"}
		for _, name := range names {
			p.world.balance[name] = 100
		}
		if err := p.attempt(func(g *guest) { drawAll(g, names); g.throw("bug") }); err.Error() != "bug" {
			t.Fatalf("seed %d: %v", seed, err)
		}
		held := p.attempt(func(g *guest) { drawAll(g, names) })
		if !isHold(held) {
			t.Errorf("seed %d: the second program ended with %v", seed, held)
		}
		for _, name := range names {
			if p.world.balance[name] != 90 {
				t.Errorf("seed %d: %s has %d:\n%s", seed, name, p.world.balance[name], strings.Join(p.story, "\n"))
			}
		}
	}
}

// drawAll takes 10 from every account concurrently: the first call of each chain is dispatched, and
// the chain whose call ends first continues.
func drawAll(g *guest, names []string) {
	type chain struct {
		name string
		call *guestCall
		left []string // the remaining calls
	}
	var chains []*chain
	start := func(c *chain) {
		args := fmt.Sprintf(`{"name":%q}`, c.name)
		if c.left[0] == "bank.set_balance" {
			args = fmt.Sprintf(`{"name":%q,"n":%d}`, c.name, as[int](c.call.result)-10)
		}
		c.call = g.start(c.left[0], args)
		c.left = c.left[1:]
	}
	for _, name := range names {
		c := &chain{name: name, left: []string{"orders.find", "bank.get_balance", "bank.set_balance"}}
		chains = append(chains, c)
		start(c)
	}
	for len(chains) > 0 {
		i := g.rand.IntN(len(chains))
		c := chains[i]
		g.await(c.call)
		if len(c.left) > 0 {
			start(c)
		} else {
			chains = slices.Delete(chains, i, i+1)
		}
	}
}

// A held call ends the program. Other calls that have not been dispatched are rejected.
func TestHeldAmongOthers(t *testing.T) {
	t.Parallel()
	p := newPlay(t, newWorld(map[int]fate{0: failBefore}), nil)
	_ = p.attempt(func(g *guest) { g.call("mail.send", to("ann")) })
	err := p.attempt(func(g *guest) {
		g.all(g.start("tickets.create", `{"n":6}`), g.start("mail.list", `{}`), g.start("mail.send", to("ann")))
	})
	hold := (*tools.HoldError)(nil)
	const call = `mail.send({"to":"ann"})`
	if !errors.As(err, &hold) || hold.Call != call || !slices.Equal(hold.Entries, []string{"E1"}) {
		t.Errorf("got %v", err)
	}
	if got := p.states(); got != "E1 failed, E2 rejected, E3 rejected" || p.world.tickets != 5 {
		t.Errorf("got %s, and %d tickets", got, p.world.tickets)
	}
}
