package journal_test

import (
	"fmt"
	"strings"
	"testing"
)

type scenario struct{ name, lines, states string }

// playAll plays scenarios with [run].
func playAll(t *testing.T, scenarios []scenario) {
	t.Helper()
	t.Parallel()
	for _, test := range scenarios {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, test.lines).states(); got != test.states {
				t.Errorf("got  %s\nwant %s", got, test.states)
			}
		})
	}
}

const (
	unknown1 = `stopped: journal: whether E1 db.add({"n":1}) took effect is unknown, so the call was not made
		| again; find out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's
		| class to Idempotent or Read`
	unknownPut = `stopped: journal: whether E1 db.put({"k":1}) took effect is unknown, and another effect on its
		| server followed, so the call was not made again; find out what happened, or set Options.Reconcile`
	failed1 = `held: E1 made exactly this call and reported an error, so it may have taken effect. First check
		| what took effect, if a tool can show that, and leave that out. Pass {distinct: "E1", again: "E1"} as the
		| second argument of every call of db.add, with only those under again that did not take effect`
	earlier1 = `held: E1 made exactly this call in an earlier step, and it is done. To take the result of E1, pass
		| {same: "E1"} as the second argument; to do it once more, pass {again: "E1"}`
	sameOrAgain1 = `to take the result of E1, pass {same: "E1"} as the second argument; to do it once more, pass
		| {again: "E1"}`
	sameOrAgain2 = `to take the result of E2, pass {same: "E2"} as the second argument; to do it once more, pass
		| {again: "E2"}`
)

// Rule 1: reads are always performed and never held.
func TestReads(t *testing.T) {
	playAll(t, []scenario{
		{"what a program looks at is the world as it is", `
			attempt
			db.count() -> 5
			db.create({"n":6}) -> "c"
			attempt
			db.count() -> 6`, "E1 ok, E2 ok, E3 ok"},
		{"after an effect that failed or is unknown, too", `
			attempt
			db.count() -> 5
			db.add({"n":1}) -> !failed
			db.add({"n":2}) -> never
			attempt
			db.count() -> 6
			db.count() -> 7`, "E1 ok, E2 failed, E3 unknown, E4 ok, E5 ok"},
		{"that failed", `
			attempt
			db.count() -> !failed
			attempt
			db.count() -> 5`, "E1 failed, E2 ok"},
		{"whose outcome is unknown", `
			attempt
			db.count() -> !timeout
			db.count() -> 5
			accept
			attempt
			db.count() -> 6`, "E1 unknown, E2 ok, E3 ok"},
		{"with other arguments", `
			attempt
			db.list({"of":"a"}) -> 1
			attempt
			db.list({"of":"b"}) -> 2
			db.list({"of":"a"}) -> 3`, "E1 ok, E2 ok, E3 ok"},
		{"in a later step", `
			attempt
			db.count() -> 5
			accept
			attempt
			db.count() -> 6`, "E1 ok, E2 ok"},
		{"with a second argument that is for effects", `
			attempt
			db.count() -> 5
			attempt
			db.count() {"same":"E1"} -> 6
			db.count() {"again":"E7","distinct":"E8"} -> 7`, "E1 ok, E2 ok, E3 ok"},
		{"by the name of an unclassified tool", `
			attempt
			shop.get_order({"id":1}) -> !failed
			shop.get_order({"id":1}) -> "new"
			attempt
			shop.get_order({"id":1}) -> "paid"`, "E1 failed, E2 ok, E3 ok"},
		{"by the claim of its server", `
			attempt
			shop.stock({"id":1}) -> 7
			attempt
			shop.stock({"id":2}) -> 8
			shop.stock({"id":1}) -> 6`, "E1 ok, E2 ok, E3 ok"},
		{"not by the name of a tool that the host classified, or called destructive", `
			attempt
			db.get_or_create({"n":1}) -> "created"
			db.list_and_clear() -> "cleared"
			attempt
			db.get_or_create({"n":1}) -> recorded "created"
			db.list_and_clear() -> recorded "cleared"`, "E1 ok, E2 ok"},
		{"that the program says an unclassified tool does", `
			attempt
			shop.product_list({"page":1}) -> "a"
			attempt
			shop.product_list({"page":1}) -> recorded "a"
			shop.product_list({"page":2}) {"fresh":true} -> "b"
			shop.product_list({"page":1}) -> "c"
			accept
			attempt
			shop.product_list({"page":1}) -> "d"
			shop.product_list({"page":3}) -> !timeout
			shop.product_list({"page":3}) -> "e"`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 unknown, E6 ok"},
		{"for that tool only", `
			attempt
			shop.product_list({"page":1}) {"fresh":true} -> "a"
			shop.buy({"id":1}) -> "bought"
			attempt
			shop.product_list({"page":1}) -> "b"
			shop.buy({"id":1}) -> recorded "bought"`, "E1 ok, E2 ok, E3 ok"},
		{"unless a policy refuses it", `
			attempt
			shop.product_list({"page":1}) -> "a"
			attempt
			shop.product_list({"page":2}) {"fresh":true} -> refused
			shop.product_list({"page":2}) -> held: earlier programs of this step called
			| shop.product_list with other arguments: E1 shop.product_list({"page":1}) (done). If
			| shop.product_list only reads, pass {fresh: true} as the second argument. If this call
			| repeats one that is done, pass {same: "E1"} as the second argument to take its result.
			| If it is another effect, pass {distinct: "all"} as the second argument of every call
			| of shop.product_list`, "E1 ok, E2 rejected"},
		{"not what is known to change something", `
			attempt
			db.add({"n":1}) {"fresh":true} -> held: {fresh: true} is for unclassified tools, and db.add is known
			| to change something; leave it out
			attempt
			db.put({"k":1}) {"fresh":true} -> held: {fresh: true} is for unclassified tools, and db.put is known
			| to change something; leave it out`, ""},
	})
}

// Rule 2: an unknown call is not repeated.
func TestUnknown(t *testing.T) {
	playAll(t, []scenario{
		{"an effect", `
			attempt
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"in the same program", `
			attempt
			db.add({"n":1}) -> !cancelled
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"in a later step", `
			attempt
			db.add({"n":1}) -> !unknown
			accept
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"never the model alone", `
			attempt
			db.add({"n":1}) -> !unknown
			attempt
			db.add({"n":1}) {"again":"E1"} -> ` + unknown1, "E1 unknown"},
		{"with distinct", `
			attempt
			db.add({"n":1}) -> !unknown
			attempt
			db.add({"n":1}) {"distinct":["all","E1"]} -> ` + unknown1, "E1 unknown"},
		{"a fatal error", `
			attempt
			db.add({"n":1}) -> !fatal
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"a record answers for both", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":1}) -> stopped: journal: whether E2 db.add({"n":1}) took effect is unknown, so the call
			| was not made again; find out what happened, set Options.Reconcile, or, if repeating it does no harm,
			| set the tool's class to Idempotent or Read`, "E1 ok, E2 unknown"},
		{"but not if the program wants to repeat what is done", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":1}) {"again":"E1"} -> stopped: journal: whether E2 db.add({"n":1}) took effect is unknown,
			| so the call was not made again; find out what happened, set Options.Reconcile, or, if repeating it
			| does no harm, set the tool's class to Idempotent or Read`, "E1 ok, E2 unknown"},
		{"not even if it names the unknown call", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":1}) {"again":"E2"} -> stopped: journal: whether E2 db.add({"n":1}) took effect is unknown,
			| so the call was not made again; find out what happened, set Options.Reconcile, or, if repeating it
			| does no harm, set the tool's class to Idempotent or Read`, "E1 ok, E2 unknown"},
		{"unclassified", `
			attempt
			shop.buy({"id":1}) -> !timeout
			attempt
			shop.buy({"id":1}) -> stopped: journal: whether E1 shop.buy({"id":1}) took effect is unknown, so the
			| call was not made again; find out what happened, set Options.Reconcile, or, if repeating it does no
			| harm, set the tool's class to Idempotent or Read`, "E1 unknown"},
		{"an unknown outcome is not a final error", `
			attempt
			db.charge({"n":1}) -> !timeout
			attempt
			db.charge({"n":1}) -> stopped: journal: whether E1 db.charge({"n":1}) took effect is unknown, so the
			| call was not made again; find out what happened, set Options.Reconcile, or, if repeating it does no
			| harm, set the tool's class to Idempotent or Read`, "E1 unknown"},
		{"repeatable", `
			attempt
			log.append({"n":1}) -> !timeout
			attempt
			log.append({"n":1}) -> 1`, "E1 unknown, E2 ok"},
		{"idempotent", `
			attempt
			db.put({"k":1}) -> !timeout
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.put({"k":1}) -> recorded 1`, "E1 unknown, E2 ok"},
		{"idempotent by the claim of its server", `
			attempt
			shop.reserve({"id":1}) -> !timeout
			attempt
			shop.reserve({"id":1}) -> 1`, "E1 unknown, E2 ok"},
		{"idempotent, after another effect", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> ` + unknownPut, "E1 unknown, E2 ok"},
		{"idempotent, after an effect that was refused", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":2}) -> !unavailable
			attempt
			db.put({"k":1}) -> 1`, "E1 unknown, E2 rejected, E3 ok"},
		{"idempotent, after an effect elsewhere", `
			attempt
			db.put({"k":1}) -> !timeout
			kv.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> 2`, "E1 unknown, E2 ok, E3 ok"},
		{"idempotent, repeated without success", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":1}) -> !unavailable
			db.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> ` + unknownPut, "E1 unknown, E2 rejected, E3 ok"},
		{"idempotent, repeated and then followed", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":1}) -> 1
			db.put({"k":2}) -> 2
			attempt
			db.put({"k":1}) -> recorded 1
			db.put({"k":2}) -> recorded 2
			db.put({"k":1}) -> 3`, "E1 unknown, E2 ok, E3 ok, E4 ok"},
	})
}

// Rule 3: a call that is done in this step is answered from the journal.
func TestRecord(t *testing.T) {
	playAll(t, []scenario{
		{"exact repeats", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":2}) -> recorded 2
			attempt
			db.add({"n":1}) -> recorded 1
			accept -> E2`, "E1 ok, E2 ok"},
		{"as often as it was done", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":1}) -> recorded 2
			db.add({"n":1}) -> 3
			accept`, "E1 ok, E2 ok, E3 ok"},
		{"idempotent, repeatable and unclassified", `
			attempt
			db.put({"k":1}) -> 1
			log.append({"n":1}) -> 2
			shop.buy({"id":1}) -> 3
			attempt
			log.append({"n":1}) -> recorded 2
			db.put({"k":1}) -> recorded 1
			shop.buy({"id":1}) -> recorded 3`, "E1 ok, E2 ok, E3 ok"},
		{"a call that was done, but whose result is unusable", `
			attempt
			db.add({"n":1}) -> !invalid_result
			attempt
			db.add({"n":1}) -> recorded !invalid_result`, "E1 ok"},
		{"held, since another effect came before", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> held: E2 made exactly this call, but after E1 db.add({"n":0}), which this program
			| has not called. Call that first. Otherwise, ` + sameOrAgain2, "E1 ok, E2 ok"},
		{"held by what came after, if this program has made the effect before it again", `
			attempt
			db.put({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":5}) {"distinct":"all"} -> 3
			attempt
			db.put({"n":0}) -> 4
			db.add({"n":1}) -> held: E2 made exactly this call, but E3 db.add({"n":5}) was made after it. To take the
			| result of E2, pass {same: "E2"} as the second argument; to do it once more, pass {again: "E2"}`,
			"E1 ok, E2 ok, E3 ok, E4 ok"},
		{"held by an idempotent effect", `
			attempt
			db.put({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> held: E2 made exactly this call, but after E1 db.put({"n":0}), which this program
			| has not called. Call that first. Otherwise, ` + sameOrAgain2, "E1 ok, E2 ok"},
		{"not held by other servers, reads, and what is repeatable or unclassified", `
			attempt
			kv.put({"k":1}) -> 1
			db.count() -> 2
			db.log() -> 3
			db.list_and_clear() -> 4
			db.add({"n":1}) -> 5
			attempt
			db.add({"n":1}) -> recorded 5`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 ok"},
		{"not held by what was not done", `
			attempt
			db.create({"n":0}) -> !failed
			db.create() -> refused
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) -> recorded 1`, "E1 failed, E2 rejected, E3 ok"},
		{"not held by what the program has named", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":2}) {"distinct":["E1","E2"]} -> 3
			db.add({"n":1}) -> recorded 2
			accept`, "E1 ok, E2 ok, E3 ok"},
		{"same", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) {"same":"E2"} -> recorded 2
			accept -> E1`, "E1 ok, E2 ok"},
		{"again", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) {"again":"E2","distinct":"all"} -> 3
			accept -> E1`, "E1 ok, E2 ok, E3 ok"},
		{"again, in a program that is run again", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"again":"E1"} -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":1}) {"again":"E1"} -> recorded 2
			db.add({"n":1}) {"again":"E1"} -> 3
			db.add({"n":1}) {"again":["E2"]} -> 4`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"again, twice in a program", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"again":"E1"} -> 2
			db.add({"n":1}) {"again":"E1"} -> recorded 1`, "E1 ok, E2 ok"},
		{"again, which failed", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"again":"E1"} -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> held: E2 made exactly this call and reported an error, so
			| it may have taken effect. First check what took effect, if a tool can show that, and
			| leave that out. Pass {distinct: "E2", again: "E2"} as the second argument of every call
			| of db.add, with only those under again that did not take effect
			attempt
			db.add({"n":1}) {"again":"E2"} -> 2
			attempt
			db.add({"n":1}) {"again":"E1"} -> recorded 2
			db.add({"n":1}) -> recorded 1`, "E1 ok, E2 failed, E3 ok"},
		{"again, whose outcome is unknown", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"again":"E1"} -> never
			attempt
			db.add({"n":1}) {"again":"E1"} -> stopped: journal: whether E2 db.add({"n":1}) took effect is unknown,
			| so the call was not made again; find out what happened, set Options.Reconcile, or, if repeating it
			| does no harm, set the tool's class to Idempotent or Read`, "E1 ok, E2 unknown"},
		{"distinct is no permission for the same call", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"distinct":["E1"]} -> recorded 1
			db.add({"n":1}) {"distinct":"all"} -> 2`, "E1 ok, E2 ok"},
		{"same, with other arguments", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":2}) {"same":"E1"} -> recorded 1
			accept`, "E1 ok"},
		{"same, in a loop", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":2}) {"same":"E1"} -> recorded 1
			db.add({"n":3}) {"same":"E1"} -> 2`, "E1 ok, E2 ok"},
		{"same overrules", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"same":"E1","again":"E1"} -> recorded 1`, "E1 ok"},
		{"no such entry", `
			attempt
			db.add({"n":1}) -> 1
			db.create() -> 2
			attempt
			db.add({"n":1}) {"same":"E9"} -> held: "E9" is not a call of db.add; name one of its calls, or leave
			| the name out
			attempt
			db.add({"n":1}) {"again":"E2"} -> held: "E2" is not a call of db.add; name one of its calls, or leave
			| the name out
			attempt
			db.add({"n":1}) {"distinct":["E1",""]} -> held: "" is not a call of db.add; name one of its calls, or
			| leave the name out
			attempt
			db.add({"n":1}) {} -> recorded 1`, "E1 ok, E2 ok"},
		{"same as a failed call", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"same":"E1"} -> held: E1 has no result, because its state is failed`,
			"E1 failed"},
	})
}

// Rule 3: a recorded result is not used if a later effect may have changed the world.
func TestRecordUndone(t *testing.T) {
	playAll(t, []scenario{
		{"by a later program, and not by this one", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.create() -> 2
			attempt
			db.add({"n":1}) -> held: E1 made exactly this call, but E2 db.create({}) was made after
			| it. To take the result of E1, pass {same: "E1"} as the second argument; to do it once
			| more, pass {again: "E1"}
			attempt
			db.create() -> recorded 2
			db.add({"n":1}) -> recorded 1`, "E1 ok, E2 ok"},
		{"by this program", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.create() -> 2
			db.add({"n":1}) -> held: E1 made exactly this call, but E2 db.create({}) was made after
			| it. To take the result of E1, pass {same: "E1"} as the second argument; to do it once
			| more, pass {again: "E1"}
			attempt
			db.create() -> recorded 2
			db.add({"n":1}) {"again":"E1"} -> 3`, "E1 ok, E2 ok, E3 ok"},
		{"perhaps, by what failed or is unknown", `
			attempt
			db.add({"n":1}) -> 1
			db.put({"k":1}) -> 2
			attempt
			db.create() -> !failed
			attempt
			db.add({"n":1}) -> held: E1 made exactly this call, but E3 db.create({}) was made after
			| it. To take the result of E1, pass {same: "E1"} as the second argument; to do it once
			| more, pass {again: "E1"}
			attempt
			db.put({"k":1}) -> held: E2 made exactly this call, but after E1 db.add({"n":1}), which this program
			| has not called. Call that first. Otherwise, to take the result of E2, pass {same: "E2"} as the
			| second argument; to do it once more, pass {again: "E2"}
			attempt
			db.add({"n":1}) {"same":"E1"} -> recorded 1
			db.put({"k":1}) -> 3`, "E1 ok, E2 ok, E3 failed, E4 ok"},
		{"not by what was not done, other servers, reads, and what is repeatable", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.create() -> refused
			db.create() -> !unavailable
			kv.put({"k":1}) -> 2
			db.count() -> 3
			db.log() -> 4
			attempt
			db.add({"n":1}) -> recorded 1`, "E1 ok, E2 rejected, E3 rejected, E4 ok, E5 ok, E6 ok"},
		{"not by other calls of the same tool, which only come in another order", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":0}) {"distinct":"all"} -> 0
			db.add({"n":1}) -> recorded 1`, "E1 ok, E2 ok"},
		{"an idempotent call is performed", `
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.put({"k":2}) -> 2
			attempt
			db.put({"k":1}) -> 3`, "E1 ok, E2 ok, E3 ok"},
		{"and may answer when it was", `
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.put({"k":2}) -> 2
			db.put({"k":1}) -> 3
			attempt
			db.put({"k":1}) -> 4
			db.put({"k":2}) -> 5
			db.put({"k":1}) -> 6`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 ok, E6 ok"},
		{"unclassified", `
			attempt
			shop.buy({"id":1}) -> 1
			attempt
			shop.reserve({"id":1}) -> 2
			attempt
			shop.buy({"id":1}) -> held: E1 made exactly this call, but E2 shop.reserve({"id":1}) was
			| made after it. If shop.buy only reads, pass {fresh: true} as the second argument. To
			| take the result of E1, pass {same: "E1"} as the second argument; to do it once more,
			| pass {again: "E1"}`, "E1 ok, E2 ok"},
	})
}

// Rule 3: an unclassified tool may only read, so its recorded result may be outdated.
func TestRecordOutdated(t *testing.T) {
	const held1 = `held: E1 made exactly this call, but E2 shop.%s was made after it. If shop.%s only reads, pass
		| {fresh: true} as the second argument. To take the result of E1, pass {same: "E1"} as the second argument;
		| to do it once more, pass {again: "E1"}`
	playAll(t, []scenario{
		{"by an effect of its own attempt", `
			attempt
			shop.items() -> []
			shop.order({"id":1}) -> 1
			attempt
			shop.items() -> ` + fmt.Sprintf(held1, `order({"id":1})`, "items") + `
			attempt
			shop.items() {"fresh":true} -> [1]
			shop.order({"id":1}) -> recorded 1
			attempt
			shop.items() -> [1]`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"by an unclassified tool", `
			attempt
			shop.items() -> []
			shop.buy({"id":1}) -> 1
			attempt
			shop.items() -> ` + fmt.Sprintf(held1, `buy({"id":1})`, "items") + `
			attempt
			shop.items() {"same":"E1"} -> recorded []
			shop.buy({"id":1}) -> recorded 1
			accept`, "E1 ok, E2 ok"},
		{"by an idempotent tool, and by what failed", `
			attempt
			shop.items() -> []
			shop.reserve({"id":1}) -> !failed
			attempt
			shop.items() -> ` + fmt.Sprintf(held1, `reserve({"id":1})`, "items"), "E1 ok, E2 failed"},
		{"by this program", `
			attempt
			shop.items() -> []
			attempt
			shop.order({"id":1}) -> 1
			shop.items() -> ` + fmt.Sprintf(held1, `order({"id":1})`, "items"), "E1 ok, E2 ok"},
		{"not by what came before it, what was not done, other servers, reads and repeatable tools", `
			attempt
			shop.order({"id":1}) -> 1
			shop.items() -> [1]
			shop.order({"id":2}) -> refused
			shop.buy({"id":2}) -> !unavailable
			shop.get_order({"id":1}) -> 2
			shop.stock({"id":1}) -> 3
			shop.log() -> 4
			db.add({"n":1}) -> 5
			attempt
			shop.items() -> recorded [1]`, "E1 ok, E2 ok, E3 rejected, E4 rejected, E5 ok, E6 ok, E7 ok, E8 ok"},
		{"not by other calls of the same tool", `
			attempt
			shop.buy({"id":1}) -> 1
			shop.buy({"id":2}) -> 2
			attempt
			shop.buy({"id":1}) -> recorded 1
			shop.buy({"id":2}) -> recorded 2`, "E1 ok, E2 ok"},
		{"not a tool that is known to change something", `
			attempt
			db.list_and_clear() -> [1]
			db.add({"n":1}) -> 1
			attempt
			db.list_and_clear() -> recorded [1]`, "E1 ok, E2 ok"},
		{"one answer for a loop over several tools", `
			attempt
			shop.buy({"id":1}) -> 1
			shop.pay({"id":1}) -> 2
			shop.buy({"id":2}) -> 3
			shop.pay({"id":2}) -> 4
			shop.order({"id":1}) -> 5
			attempt
			shop.buy({"id":1}) -> ` + fmt.Sprintf(held1, `pay({"id":1})`, "buy") + `. Answer in the same way for the
			| calls of shop.pay (E2)
			attempt
			shop.buy({"id":1}) {"same":"E1"} -> recorded 1
			shop.pay({"id":1}) {"same":"E2"} -> recorded 2
			shop.buy({"id":2}) {"same":"E1"} -> recorded 3
			shop.pay({"id":2}) {"same":"E2"} -> recorded 4
			shop.order({"id":1}) -> recorded 5
			accept`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 ok"},
	})
}

// Rule 4: a failed call may have had its effect.
func TestFailed(t *testing.T) {
	playAll(t, []scenario{
		{"is held", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) -> ` + failed1, "E1 failed"},
		{"in the same program", `
			attempt
			db.add({"n":1}) -> !conflict
			db.add({"n":1}) -> ` + failed1, "E1 failed"},
		{"in a later step", `
			attempt
			db.add({"n":1}) -> !failed
			accept
			attempt
			db.add({"n":1}) -> ` + failed1, "E1 failed"},
		{"a read in between proves nothing", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.count() -> 0
			db.add({"n":1}) -> ` + failed1, "E1 failed, E2 ok"},
		{"distinct is no permission for the same call", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"distinct":["E1"]} -> ` + failed1, "E1 failed"},
		{"again", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> 1
			attempt
			db.add({"n":1}) -> recorded 1`, "E1 failed, E2 ok"},
		{"again, in a program that is run again", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> held: E2 made exactly this call and reported an error, so
			| it may have taken effect. First check what took effect, if a tool can show that, and
			| leave that out. Pass {distinct: "E2", again: "E2"} as the second argument of every call
			| of db.add, with only those under again that did not take effect
			attempt
			db.add({"n":1}) {"again":["E1","E2"]} -> 1
			attempt
			db.add({"n":1}) {"again":["E1","E2"]} -> recorded 1`, "E1 failed, E2 failed, E3 ok"},
		{"again, without effect", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> !unavailable
			attempt
			db.add({"n":1}) {"again":"E1"} -> 1`, "E1 failed, E2 rejected, E3 ok"},
		{"again, refused by a policy", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> refused
			attempt
			db.add({"n":1}) -> ` + failed1, "E1 failed, E2 rejected"},
		{"again is for its own arguments", `
			attempt
			db.add({"n":1}) -> !failed
			db.add({"n":2}) -> !failed
			attempt
			db.add({"n":2}) {"again":"E1"} -> held: E2 made exactly this call and reported an error, so
			| it may have taken effect. First check what took effect, if a tool can show that, and
			| leave that out. Pass {distinct: ["E1", "E2"], again: ["E1", "E2"]} as the second
			| argument of every call of db.add, with only those under again that did not take effect
			attempt
			db.add({"n":1}) {"again":["E1","E2"]} -> 1
			db.add({"n":2}) {"again":["E1","E2"]} -> 2`, "E1 failed, E2 failed, E3 ok, E4 ok"},
		{"and does not repeat what is done", `
			attempt
			db.add({"n":1}) -> !failed
			db.add({"n":2}) -> 2
			attempt
			db.add({"n":2}) {"again":"E1"} -> recorded 2`, "E1 failed, E2 ok"},
		{"the one answer for a loop", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> !failed
			attempt
			db.add({"n":2}) -> held: E2 made exactly this call and reported an error, so it may have
			| taken effect. First check what took effect, if a tool can show that, and leave that out.
			| Pass {distinct: ["all", "E2"], again: "E2"} as the second argument of every call of
			| db.add, with only those under again that did not take effect
			attempt
			db.add({"n":2}) {"distinct":"all","again":"E2"} -> 2
			db.add({"n":3}) {"distinct":"all","again":"E2"} -> 3`, "E1 ok, E2 failed, E3 ok, E4 ok"},
		{"the one answer for a loop, after an error in an earlier step", `
			attempt
			db.add({"n":1}) -> !failed
			accept
			attempt
			db.add({"n":2}) -> 2
			attempt
			db.add({"n":1}) -> held: E1 made exactly this call and reported an error, so it may have
			| taken effect. First check what took effect, if a tool can show that, and leave that out.
			| Pass {distinct: ["all", "E1"], again: "E1"} as the second argument of every call of
			| db.add, with only those under again that did not take effect`,
			"E1 failed, E2 ok"},
		{"two of them", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> !failed
			accept
			attempt
			db.add({"n":1}) {"again":"E2"} -> 1
			accept
			attempt
			db.add({"n":1}) -> held: E3 made exactly this call in an earlier step, and it is done. To take the
			| result of E3, pass {same: "E3"} as the second argument; to do it once more, pass {again: "E3"}`,
			"E1 failed, E2 failed, E3 ok"},
		{"idempotent", `
			attempt
			db.put({"k":1}) -> !failed
			attempt
			db.put({"k":1}) -> 1`, "E1 failed, E2 ok"},
		{"repeatable", `
			attempt
			log.append({"n":1}) -> !failed
			attempt
			log.append({"n":1}) -> 1`, "E1 failed, E2 ok"},
		{"errors are final", `
			attempt
			db.charge({"n":1}) -> !failed
			db.charge({"n":1}) -> !declined
			attempt
			db.charge({"n":1}) -> 1
			attempt
			db.charge({"n":1}) -> recorded 1`, "E1 rejected, E2 rejected, E3 ok"},
		{"unclassified", `
			attempt
			shop.product_list({"page":1}) -> !failed
			attempt
			shop.product_list({"page":1}) -> held: E1 made exactly this call and reported an error, so
			| it may have taken effect. If shop.product_list only reads, pass {fresh: true} as the
			| second argument. First check what took effect, if a tool can show that, and leave that
			| out. Pass {distinct: "E1", again: "E1"} as the second argument of every call of
			| shop.product_list, with only those under again that did not take effect
			attempt
			shop.product_list({"page":1}) {"fresh":true} -> "a"`, "E1 failed, E2 ok"},
		{"not what was provably not done", `
			attempt
			db.add({"n":1}) -> !unavailable
			db.add({"n":2}) -> !denied
			db.add({"n":3}) -> refused
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			db.add({"n":3}) -> 3
			accept`, "E1 rejected, E2 rejected, E3 rejected, E4 ok, E5 ok, E6 ok"},
		{"done, but the result is unusable", `
			attempt
			db.add({"n":1}) -> !invalid_result
			db.add({"n":1}) -> held: E1 made exactly this call, and it is done, although its result cannot be
			| used. To do it once more, pass {again: "E1"} as the second argument
			attempt
			db.add({"n":1}) -> recorded !invalid_result
			db.add({"n":1}) {"again":"E1"} -> 1`, "E1 ok, E2 ok"},
	})
}

// Rule 5: a call of the tool with other arguments may be the same effect.
func TestOtherArguments(t *testing.T) {
	const done1 = `held: earlier programs of this step called db.add with other arguments: E1
	| db.add({"n":1}) (done). If this call repeats one that is done, pass {same: "E1"} as the second
	| argument to take its result. If it is another effect, pass {distinct: "all"} as the second
	| argument of every call of db.add`
	const failed1 = `held: earlier programs of this step called db.add with other arguments: E1
	| db.add({"n":1}) (reported an error; it may have taken effect). First check what took effect, if
	| a tool can show that, and leave that out. If it is another effect, pass {distinct: "E1", again: "E1"}
	| as the second argument of every call of db.add, with only those under again that did not take effect`
	failedAll := strings.Replace(failed1, `{distinct: "E1"`, `{distinct: ["all", "E1"]`, 1)
	playAll(t, []scenario{
		{"done", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":2}) -> ` + done1, "E1 ok"},
		{"failed", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":2}) -> ` + failed1, "E1 failed"},
		{"unknown", `
			attempt
			db.add({"n":1}) -> never
			attempt
			db.add({"n":2}) -> held: earlier programs of this step called db.add with other arguments:
			| E1 db.add({"n":1}) (whether it took effect is unknown). First check what took effect, if
			| a tool can show that, and leave that out. If it is another effect, pass {distinct: "E1"}
			| as the second argument of every call of db.add`, "E1 unknown"},
		{"all of them, uncertain ones first", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			db.add({"n":3}) -> !failed
			db.add({"n":4}) -> never
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":5}) -> held: earlier programs of this step called db.add with other arguments:
			| E3 db.add({"n":3}) (reported an error; it may have taken effect); E4 db.add({"n":4})
			| (whether it took effect is unknown); E2 db.add({"n":2}) (done). First check what took
			| effect, if a tool can show that, and leave that out. If this call repeats one that is
			| done, pass {same: "E2"} as the second argument to take its result. If it is another
			| effect, pass {distinct: ["all", "E3", "E4"], again: "E3"} as the second argument of
			| every call of db.add, with only those under again that did not take effect
			attempt
			db.add({"n":5}) {"distinct":"all","again":["E3","E4"]} -> 5
			db.add({"n":3}) {"distinct":"all","again":["E3","E4"]} -> 3
			accept -> E1, E2`, "E1 ok, E2 ok, E3 failed, E4 unknown, E5 ok, E6 ok"},
		{"all does not cover what is uncertain", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":2}) {"distinct":"all"} -> ` + failedAll, "E1 failed"},
		{"to name an entry resolves it", `
			attempt
			db.add({"n":1}) -> !failed
			db.add({"n":2}) -> never
			attempt
			db.add({"n":3}) {"distinct":["E1","E2"]} -> 3
			db.add({"n":4}) -> 4`, "E1 failed, E2 unknown, E3 ok, E4 ok"},
		{"for later programs, too", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":3}) {"distinct":"E1"} -> 3
			attempt
			db.add({"n":3}) -> recorded 3
			db.add({"n":4}) -> 4`, "E1 failed, E2 ok, E3 ok"},
		{"unless a policy refuses the call that names it", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":2}) {"distinct":"E1"} -> refused
			attempt
			db.add({"n":2}) -> ` + failed1, "E1 failed, E2 rejected"},
		{"and so does doing it", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"again":"E1"} -> 1
			db.add({"n":2}) -> 2`, "E1 failed, E2 ok, E3 ok"},
		{"distinct, in a loop", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":2}) {"distinct":"all"} -> 2
			db.add({"n":3}) {"distinct":"all"} -> 3
			attempt
			db.add({"n":2}) {"distinct":"all"} -> recorded 2
			db.add({"n":3}) {"distinct":"all"} -> recorded 3
			accept -> E1`, "E1 ok, E2 ok, E3 ok"},
		{"one of them", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			attempt
			db.add({"n":3}) {"distinct":["E1"]} -> held: earlier programs of this step called db.add
			| with other arguments: E2 db.add({"n":2}) (done). If this call repeats one that is
			| done, pass {same: "E2"} as the second argument to take its result. If it is another
			| effect, pass {distinct: "all"} as the second argument of every call of db.add`,
			"E1 ok, E2 ok"},
		{"more than a message holds", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			db.add({"n":3}) -> 3
			db.add({"n":4}) -> 4
			db.add({"n":5}) -> 5
			db.add({"n":6}) -> 6
			db.add({"n":7}) -> 7
			db.add({"n":8}) -> 8
			db.add({"n":9}) -> 9
			db.add({"n":10}) -> 10
			db.add({"n":11}) -> 11
			db.add({"n":12}) -> !failed
			attempt
			db.add({"n":13}) -> held: earlier programs of this step called db.add with other arguments:
			| E12 db.add({"n":12}) (reported an error; it may have taken effect); E1 db.add({"n":1})
			| (done); E2 db.add({"n":2}) (done); E3 db.add({"n":3}) (done); E4 db.add({"n":4}) (done);
			| E5 db.add({"n":5}) (done); E6 db.add({"n":6}) (done); E7 db.add({"n":7}) (done); E8
			| db.add({"n":8}) (done); E9 db.add({"n":9}) (done); and 2 more. First check what took
			| effect, if a tool can show that, and leave that out. If this call repeats one that is
			| done, pass {same: "E1"} as the second argument to take its result. If it is another
			| effect, pass {distinct: ["all", "E12"], again: "E12"} as the second argument of every
			| call of db.add, with only those under again that did not take effect`,
			"E1 ok, E2 ok, E3 ok, E4 ok, E5 ok, E6 ok, E7 ok, E8 ok, E9 ok, E10 ok, E11 ok, E12 failed"},
		{"not those that this program has made or taken", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":2}) -> !failed
			db.add({"n":3}) -> 2`, "E1 ok, E2 failed, E3 ok"},
		{"not those that were not done", `
			attempt
			db.add({"n":1}) -> refused
			db.add({"n":2}) -> !unavailable
			attempt
			db.add({"n":3}) -> 1`, "E1 rejected, E2 rejected, E3 ok"},
		{"not those whose errors are final", `
			attempt
			db.charge({"n":1}) -> !declined
			attempt
			db.charge({"n":2}) -> 1`, "E1 rejected, E2 ok"},
		{"not those of earlier steps", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> !failed
			accept
			attempt
			db.add({"n":3}) -> 2`, "E1 ok, E2 failed, E3 ok"},
		{"not other tools and servers", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.create({"n":2}) -> 2
			own({"n":3}) -> 3
			accept -> E1`, "E1 ok, E2 ok, E3 ok"},
		{"repeatable", `
			attempt
			log.append({"n":1}) -> 1
			attempt
			log.append({"n":2}) -> 2`, "E1 ok, E2 ok"},
		{"idempotent", `
			attempt
			db.count() -> 5
			db.put({"k":1}) -> 1
			attempt
			db.count() -> 5
			db.put({"k":2}) -> 2`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"idempotent, and what changed did so within the program, or in an earlier step", `
			attempt
			db.count() -> 5
			accept
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.count() -> 6
			db.count() -> 7
			db.put({"k":2}) -> 2`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 ok"},
		{"idempotent, and what failed is done", `
			attempt
			db.count() -> 5
			db.put({"k":1}) -> !failed
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.count() -> 6
			db.put({"k":2}) {"distinct":"all"} -> 2`, "E1 ok, E2 failed, E3 ok, E4 ok, E5 ok"},
		{"idempotent, but computed from what has changed", `
			attempt
			db.count() -> 100
			db.put({"k":90}) -> !failed
			attempt
			db.count() -> 90
			db.put({"k":80}) -> held: earlier programs of this step called db.put with other arguments:
			| E2 db.put({"k":90}) (reported an error; it may have taken effect). db.count({}) now
			| gives another value than before, perhaps because of that. First check what took effect,
			| if a tool can show that, and leave that out. If it is another effect, pass {distinct:
			| "E2", again: "E2"} as the second argument of every call of db.put, with only those under
			| again that did not take effect
			attempt
			db.count() -> 90`, "E1 ok, E2 failed, E3 ok, E4 ok"},
		{"unclassified", `
			attempt
			shop.buy({"id":1}) -> !failed
			attempt
			shop.buy({"id":2}) -> held: earlier programs of this step called shop.buy with other
			| arguments: E1 shop.buy({"id":1}) (reported an error; it may have taken effect). If
			| shop.buy only reads, pass {fresh: true} as the second argument. First check what took
			| effect, if a tool can show that, and leave that out. If it is another effect, pass
			| {distinct: "E1", again: "E1"} as the second argument of every call of shop.buy, with
			| only those under again that did not take effect`, "E1 failed"},
	})
}

// Rule 6: a call that is done in an earlier step.
func TestEarlierStep(t *testing.T) {
	playAll(t, []scenario{
		{"is held", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			db.add({"n":1}) -> ` + earlier1, "E1 ok"},
		{"two steps later", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			accept
			attempt
			db.add({"n":1}) -> ` + earlier1, "E1 ok"},
		{"same", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			db.add({"n":1}) {"same":"E1"} -> recorded 1
			attempt
			db.add({"n":1}) {"same":"E1"} -> recorded 1
			accept`, "E1 ok"},
		{"again", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			db.add({"n":1}) {"again":"E1"} -> 2
			attempt
			db.add({"n":1}) {"again":"E1"} -> recorded 2
			accept
			attempt
			db.add({"n":1}) {"again":"E1"} -> held: E2 made exactly this call in an earlier step, and it is done.
			| To take the result of E2, pass {same: "E2"} as the second argument; to do it once more, pass {again:
			| "E2"}`,
			"E1 ok, E2 ok"},
		{"idempotent and repeatable", `
			attempt
			db.put({"k":1}) -> 1
			log.append({"n":1}) -> 2
			accept
			attempt
			db.put({"k":1}) -> 3
			log.append({"n":1}) -> 4`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"unclassified", `
			attempt
			shop.product_list({"page":1}) -> "a"
			accept
			attempt
			shop.product_list({"page":1}) -> held: E1 made exactly this call in an earlier step, and it is done.
			| If shop.product_list only reads, pass {fresh: true} as the second argument. To take the
			| result of E1, pass {same: "E1"} as the second argument; to do it once more, pass {again: "E1"}
			attempt
			shop.product_list({"page":1}) {"fresh":true} -> "b"`, "E1 ok, E2 ok"},
	})
}

// Rule 7: all other calls are performed.
func TestPerformed(t *testing.T) {
	playAll(t, []scenario{
		{"a new call", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			accept
			attempt
			db.add({"n":3}) -> 3
			accept`, "E1 ok, E2 ok, E3 ok"},
		{"a tool without a server", `
			attempt
			own({"n":1}) -> 1
			attempt
			own({"n":1}) -> recorded 1`, "E1 ok"},
	})
}

// Calls with the same key are the same call.
func TestKeys(t *testing.T) {
	playAll(t, []scenario{
		{"the text is outside of the identity", `
			attempt
			mail.send({"to":"ann","subject":"s","text":"one"}) -> 1
			attempt
			mail.send({"text":"another","subject":"s","to":"ann"}) -> recorded 1
			mail.send({"to":"bob","subject":"s"}) -> 2`, "E1 ok, E2 ok"},
		{"an empty identity", `
			attempt
			mail.any({"to":"ann"}) -> 1
			attempt
			mail.any({"to":"bob"}) -> recorded 1`, "E1 ok"},
		{"order does not count", `
			attempt
			db.add({"a":1,"b":{"c":2,"d":3}}) -> 1
			attempt
			db.add({ "b": {"d":3, "c":2}, "a":1}) -> recorded 1`, "E1 ok"},
		{"order of arrays counts", `
			attempt
			db.add({"a":[1,2]}) -> 1
			attempt
			db.add({"a":[2,1]}) {"distinct":"all"} -> 2`, "E1 ok, E2 ok"},
		{"big integers are exact", `
			attempt
			db.add({"n":9007199254740993}) -> 1
			attempt
			db.add({"n":9007199254740992}) {"distinct":"all"} -> 2
			db.add({"n":9007199254740993}) -> recorded 1`, "E1 ok, E2 ok"},
	})
}

// Orphans are effects that the accepted program neither made nor named.
func TestOrphans(t *testing.T) {
	playAll(t, []scenario{
		{"are effects that are done", `
			attempt
			db.add({"n":1}) -> 1
			db.put({"n":1}) -> 2
			db.log({"n":1}) -> 3
			db.count() -> 4
			db.create() -> !failed
			shop.buy({"id":1}) -> 5
			db.add({"n":2}) -> never
			attempt
			accept -> E1, E2, E6
			accept`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 failed, E6 ok, E7 unknown"},
		{"not those that the program called, took or named", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			db.add({"n":3}) -> 3
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":9}) {"same":"E2"} -> recorded 2
			db.add({"n":4}) {"distinct":["E3"]} -> 4
			accept`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"not what it could have seen", `
			attempt
			db.add({"n":1}) -> 1
			kv.put({"k":1}) -> 2
			attempt
			db.count() -> 5
			accept -> E2`, "E1 ok, E2 ok, E3 ok"},
		{"a failed or earlier read shows nothing", `
			attempt
			db.count() -> 0
			db.add({"n":1}) -> 1
			attempt
			db.count() -> !failed
			accept -> E2`, "E1 ok, E2 ok, E3 failed"},
		{"not a read of an earlier attempt", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.count() -> 0
			attempt
			accept -> E1`, "E1 ok, E2 ok"},
		{"of this step only", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			accept`, "E1 ok"},
	})
}

// A dispatched call is unknown when its program ends.
func TestDispatchedAtEnd(t *testing.T) {
	playAll(t, []scenario{
		{"by the next attempt", `
			attempt
			db.add({"n":1}) -> never
			attempt`, "E1 unknown"},
		{"by the end of the step", `
			attempt
			db.add({"n":1}) -> never
			accept`, "E1 unknown"},
		{"by the end of the run", `
			attempt
			db.add({"n":1}) -> never
			end`, "E1 unknown"},
	})
}
