package journal_test

import "testing"

// Every scenario is played by [run], which explains its lines.
func TestRules(t *testing.T) {
	t.Parallel()
	const add1AfterAdd0 = `db.add({"n":1}) was held: E2 did exactly this, but after E1 db.add({"n":0}), which this program has not called; ` +
		`call that first, or pass {same: "E2"} as the second argument to take the recorded result, or {again: "E2"} to do it again`
	const unknown1 = `stopped: journal: E1 db.add({"n":1}) may have taken effect, and nobody knows whether it did; it is not made again. ` +
		`Find out what happened, or, if to repeat it does no harm, declare the tool idempotent`
	const unknownPut = `stopped: journal: E1 db.put({"k":1}) may have taken effect, and nobody knows whether it did; another effect on its server followed, ` +
		`so it is not made again. Find out what happened`
	tests := []struct{ name, scenario, states string }{
		{"1: count, then create count+1", `
			attempt
			db.count() -> 5
			db.create({"n":6}) -> "c"
			attempt
			db.count() -> recorded 5
			db.create({"n":6}) -> recorded "c"
			db.count() -> 6`, "E1 ok, E2 ok, E3 ok"},
		{"1: no effect followed", `
			attempt
			db.count() -> 5
			attempt
			db.count() -> 6`, "E1 ok, E2 ok"},
		{"1: reads after the last effect", `
			attempt
			db.add({"n":1}) -> 1
			db.count() -> 5
			attempt
			db.add({"n":1}) -> recorded 1
			db.count() -> 6`, "E1 ok, E2 ok, E3 ok"},
		{"1: what followed was not done", `
			attempt
			db.count() -> 5
			db.add({"n":1}) -> refused
			attempt
			db.count() -> 6`, "E1 ok, E2 rejected, E3 ok"},
		{"1: what followed may have been done", `
			attempt
			db.count() -> 5
			db.add({"n":1}) -> never
			attempt
			db.count() -> recorded 5`, "E1 ok, E2 unknown"},
		{"1: what followed was idempotent", `
			attempt
			db.count() -> 5
			db.put({"n":6}) -> 1
			attempt
			db.count() -> recorded 5`, "E1 ok, E2 ok"},
		{"1: what followed was repeatable", `
			attempt
			db.count() -> 5
			db.log({"n":6}) -> 1
			attempt
			db.count() -> 6`, "E1 ok, E2 ok, E3 ok"},
		{"1: another prefix", `
			attempt
			db.count() -> 5
			db.add({"n":1}) -> 1
			attempt
			db.count({"of":"b"}) -> 6
			db.count() -> 7`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"1: the prefix of a later attempt", `
			attempt
			db.list() -> 1
			attempt
			db.count() -> 5
			db.add({"n":1}) -> 1
			attempt
			db.count() -> recorded 5`, "E1 ok, E2 ok, E3 ok"},
		{"1: a read that failed", `
			attempt
			db.count() -> !failed
			db.add({"n":1}) -> 1
			attempt
			db.count() -> 5`, "E1 failed, E2 ok, E3 ok"},
		{"1: a read whose outcome is unknown", `
			attempt
			db.count() -> !timeout
			attempt
			db.count() -> 5`, "E1 unknown, E2 ok"},
		{"1: reads have no identity", `
			attempt
			db.list({"of":"a"}) -> 1
			db.add({"n":1}) -> 1
			attempt
			db.list({"of":"b"}) -> 2`, "E1 ok, E2 ok, E3 ok"},
		{"1: not across steps", `
			attempt
			db.count() -> 5
			db.add({"n":1}) -> 1
			accept
			attempt
			db.count() -> 6`, "E1 ok, E2 ok, E3 ok"},

		{"2: an effect", `
			attempt
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"2: in the same program", `
			attempt
			db.add({"n":1}) -> !cancelled
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"2: in a later step", `
			attempt
			db.add({"n":1}) -> !unknown
			accept
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"2: never the model", `
			attempt
			db.add({"n":1}) -> !unknown
			attempt
			db.add({"n":1}) {"again":"E1"} -> ` + unknown1, "E1 unknown"},
		{"2: a fatal error", `
			attempt
			db.add({"n":1}) -> !fatal
			attempt
			db.add({"n":1}) -> ` + unknown1, "E1 unknown"},
		{"2: other arguments", `
			attempt
			db.add({"n":1}) -> !timeout
			attempt
			db.add({"n":2}) -> 1`, "E1 unknown, E2 ok"},
		{"2: repeatable", `
			attempt
			log.append({"n":1}) -> !timeout
			attempt
			log.append({"n":1}) -> 1`, "E1 unknown, E2 ok"},
		{"2: idempotent", `
			attempt
			db.put({"k":1}) -> !timeout
			attempt
			db.put({"k":1}) -> 1
			attempt
			db.put({"k":1}) -> recorded 1`, "E1 unknown, E2 ok"},
		{"2: idempotent, after another effect", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> ` + unknownPut, "E1 unknown, E2 ok"},
		{"2: idempotent, after an effect that was refused", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":2}) -> !unavailable
			attempt
			db.put({"k":1}) -> 1`, "E1 unknown, E2 rejected, E3 ok"},
		{"2: idempotent, after an effect elsewhere", `
			attempt
			db.put({"k":1}) -> !timeout
			kv.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> 2`, "E1 unknown, E2 ok, E3 ok"},
		{"2: idempotent, repeated in vain", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":1}) -> !unavailable
			db.put({"k":2}) -> 1
			attempt
			db.put({"k":1}) -> ` + unknownPut, "E1 unknown, E2 rejected, E3 ok"},
		{"2: idempotent, repeated and then followed", `
			attempt
			db.put({"k":1}) -> !timeout
			db.put({"k":1}) -> 1
			db.put({"k":2}) -> 2
			attempt
			db.put({"k":1}) -> recorded 1
			db.put({"k":2}) -> recorded 2`, "E1 unknown, E2 ok, E3 ok"},

		{"3: exact repeats", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":2}) -> recorded 2
			attempt
			db.add({"n":1}) -> recorded 1
			accept -> E2`, "E1 ok, E2 ok"},
		{"3: as often as it was done", `
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":1}) -> recorded 2
			db.add({"n":1}) -> 3
			accept`, "E1 ok, E2 ok, E3 ok"},
		{"3: idempotent and repeatable too", `
			attempt
			db.put({"k":1}) -> 1
			log.append({"n":1}) -> 2
			attempt
			log.append({"n":1}) -> recorded 2
			db.put({"k":1}) -> recorded 1`, "E1 ok, E2 ok"},
		{"3: done, but the result is of no use", `
			attempt
			db.add({"n":1}) -> !invalid_result
			attempt
			db.add({"n":1}) -> recorded !invalid_result`, "E1 ok"},
		{"3: closed for good", `
			attempt
			db.add({"n":2}) -> 1
			attempt
			db.add({"n":1}) -> !invalid_result
			db.put({"k":1}) -> !invalid_result
			db.log({"n":1}) -> !invalid_result
			db.count() -> !invalid_result
			seal -> E1
			attempt
			mail.send({"to":"ann"}) -> 5
			accept
			attempt
			db.add({"n":1}) -> recorded !invalid_result
			db.add({"n":1}) -> recorded !invalid_result
			db.put({"k":1}) -> 6
			db.log({"n":1}) -> 7
			db.count() -> 8
			db.add({"n":2}) -> 9
			db.add({"n":1}) {"again":"E2"} -> 10
			accept
			attempt
			db.add({"n":1}) -> recorded !invalid_result`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 ok, E6 ok, E7 ok, E8 ok, E9 ok, E10 ok, E11 ok"},
		{"3: held, since another effect came before", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> ` + add1AfterAdd0, "E1 ok, E2 ok"},
		{"3: same", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) {"same":"E2"} -> recorded 2
			accept -> E1`, "E1 ok, E2 ok"},
		{"3: again", `
			attempt
			db.add({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) {"again":"E2"} -> 3
			accept -> E1, E2`, "E1 ok, E2 ok, E3 ok"},
		{"3: again, in a program that is run again", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"again":"E1"} -> 2
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":1}) {"again":"E1"} -> recorded 2
			db.add({"n":1}) {"again":"E1"} -> 3
			db.add({"n":1}) {"again":"E2"} -> 4`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"3: distinct", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"distinct":["E1"]} -> 2
			db.add({"n":1}) -> recorded 1`, "E1 ok, E2 ok"},
		{"3: same, with other arguments", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":2}) {"same":"E1"} -> recorded 1
			accept`, "E1 ok"},
		{"3: same overrules", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) {"same":"E1","again":"E1"} -> recorded 1`, "E1 ok"},
		{"3: no such entry", `
			attempt
			db.add({"n":1}) -> 1
			db.create() -> 2
			attempt
			db.add({"n":1}) {"same":"E9"} -> db.add({"n":1}) was held: there is no call of db.add under the name "E9"
			db.add({"n":1}) {"again":"E2"} -> db.add({"n":1}) was held: there is no call of db.add under the name "E2"
			db.add({"n":1}) {"distinct":["E1",""]} -> db.add({"n":1}) was held: there is no call of db.add under the name ""
			db.add({"n":1}) {} -> recorded 1`, "E1 ok, E2 ok"},
		{"3: same as what failed", `
			attempt
			db.add({"n":1}) -> !failed
			attempt
			db.add({"n":1}) {"same":"E1"} -> db.add({"n":1}) was held: E1 is not done but failed, so it has no record to take`, "E1 failed"},
		{"3: not held by other servers, reads, and what is repeatable", `
			attempt
			kv.put({"k":1}) -> 1
			db.count() -> 2
			db.log() -> 3
			db.add({"n":1}) -> 4
			attempt
			db.add({"n":1}) -> recorded 4`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"3: not held by what was not done", `
			attempt
			db.add({"n":0}) -> !failed
			db.create() -> refused
			db.add({"n":1}) -> 1
			attempt
			db.add({"n":1}) -> recorded 1`, "E1 failed, E2 rejected, E3 ok"},
		{"3: held by an idempotent effect", `
			attempt
			db.put({"n":0}) -> 1
			db.add({"n":1}) -> 2
			attempt
			db.add({"n":1}) -> db.add({"n":1}) was held: E2 did exactly this, but after E1 db.put({"n":0}), which this program has not called; ` +
			`call that first, or pass {same: "E2"} as the second argument to take the recorded result, or {again: "E2"} to do it again`, "E1 ok, E2 ok"},

		{"4: what was not done is made", `
			attempt
			db.add({"n":1}) -> !unavailable
			db.add({"n":2}) -> !denied
			db.add({"n":3}) -> refused
			db.add({"n":4}) -> !failed
			attempt
			db.add({"n":1}) -> 1
			db.add({"n":2}) -> 2
			db.add({"n":3}) -> 3
			db.add({"n":4}) -> 4
			accept`, "E1 rejected, E2 rejected, E3 rejected, E4 failed, E5 ok, E6 ok, E7 ok, E8 ok"},
		{"4: other tools, servers and arguments", `
			attempt
			db.add({"n":1}) -> 1
			attempt
			db.create({"n":1}) -> 2
			own({"n":1}) -> 3
			db.add({"n":"1"}) -> 4
			accept -> E1`, "E1 ok, E2 ok, E3 ok, E4 ok"},
		{"4: the same in a later step", `
			attempt
			db.add({"n":1}) -> 1
			accept
			attempt
			db.add({"n":1}) -> 2
			accept`, "E1 ok, E2 ok"},

		{"identity: the text does not count", `
			attempt
			mail.send({"to":"ann","subject":"s","text":"one"}) -> 1
			attempt
			mail.send({"text":"another","subject":"s","to":"ann"}) -> recorded 1
			mail.send({"to":"bob","subject":"s"}) -> 2`, "E1 ok, E2 ok"},
		{"identity: of nothing", `
			attempt
			mail.any({"to":"ann"}) -> 1
			attempt
			mail.any({"to":"bob"}) -> recorded 1`, "E1 ok"},
		{"key: order does not count", `
			attempt
			db.add({"a":1,"b":{"c":2,"d":3}}) -> 1
			attempt
			db.add({ "b": {"d":3, "c":2}, "a":1}) -> recorded 1`, "E1 ok"},
		{"key: order of arrays counts", `
			attempt
			db.add({"a":[1,2]}) -> 1
			attempt
			db.add({"a":[2,1]}) -> 2`, "E1 ok, E2 ok"},
		{"key: big integers are exact", `
			attempt
			db.add({"n":9007199254740993}) -> 1
			attempt
			db.add({"n":9007199254740992}) -> 2
			db.add({"n":9007199254740993}) -> recorded 1`, "E1 ok, E2 ok"},

		{"keep: what stands is no orphan", `
			attempt
			db.add({"n":0}) -> 0
			attempt
			db.add({"n":1}) -> 1
			keep
			attempt
			db.add({"n":2}) -> 2
			accept -> E1`, "E1 ok, E2 ok, E3 ok"},
		{"keep: nor need it be called first", `
			attempt
			db.add({"n":0}) -> 0
			db.add({"n":1}) -> 1
			keep
			attempt
			db.add({"n":1}) -> recorded 1
			db.add({"n":0}) -> recorded 0
			db.add({"n":0}) -> 2
			accept`, "E1 ok, E2 ok, E3 ok"},
		{"keep: what a record answered stands, too", `
			attempt
			db.add({"n":0}) -> 0
			attempt
			db.add({"n":0}) -> recorded 0
			keep
			attempt
			accept`, "E1 ok"},
		{"keep: a step that is over has no more to keep", `
			attempt
			db.add({"n":0}) -> 0
			accept
			keep
			attempt
			db.add({"n":0}) -> 1
			accept`, "E1 ok, E2 ok"},
		{"accept: orphans are effects", `
			attempt
			db.add({"n":1}) -> 1
			db.put({"n":1}) -> 2
			db.log({"n":1}) -> 3
			db.count() -> 4
			db.create() -> !failed
			attempt
			accept -> E1, E2
			accept`, "E1 ok, E2 ok, E3 ok, E4 ok, E5 failed"},
		{"accept: gives up what is under way", `
			attempt
			db.add({"n":1}) -> never
			accept`, "E1 unknown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, test.scenario).states(); got != test.states {
				t.Errorf("got  %s\nwant %s", got, test.states)
			}
		})
	}
}
