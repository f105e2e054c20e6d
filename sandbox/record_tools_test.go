package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// scene is a program of a session, its tools and its result.
type scene struct {
	source string
	set    *tools.Set
	want   string
}

// play runs scenes in one session, which is restored from its record before each.
func play(t *testing.T, box *sandbox.Sandbox, scenes []scene) {
	t.Helper()
	session := box.NewSession(nil)
	for _, s := range scenes {
		record, err := session.AppendRecord(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if session, _, err = box.RestoreSession(record); err != nil {
			t.Fatalf("before %s: %v\n%s", s.source, err, record)
		}
		step{s.source, s.want}.in(t, session, s.set)
	}
}

// A session can be restored with tools of any name and with any use of them.
func TestRestoreWithTools(t *testing.T) {
	t.Parallel()
	var odd []tools.Source
	for _, name := range oddNames {
		odd = append(odd, &tools.Tool{Namespace: "odd", Name: name, Handler: answers("1")},
			&tools.Tool{Namespace: name, Name: "f", Handler: answers("2")})
	}
	docs := newSet(t,
		&tools.Tool{Namespace: "docs", Name: "resolve-library-id", Handler: answers("1")},
		&tools.Tool{Namespace: "docs", Name: "get", Handler: answers("2")},
		&tools.Tool{Name: "now", Handler: answers("3")})
	mail := newSet(t,
		&tools.Tool{Namespace: "mail", Name: "send", Handler: answers("4")},
		&tools.Tool{Name: "total", Handler: answers("5")})
	for name, scenes := range map[string][]scene{
		"odd names": {
			{`let n = 1; n`, newSet(t, odd...), "value: 1"}, {`n += await odd.export({}); n`, newSet(t, odd...), "value: 2"},
			{`n`, nil, "value: 2"},
		},
		"a name that is not an identifier": {
			{`const id = await docs.resolve_library_id({}); id`, docs, "value: 1"},
			{`const same = await docs["resolve-library-id"]({}); [id, same]`, docs, "value: [1,1]"},
			{`[id, same]`, nil, "value: [1,1]"},
		},
		"looked at": {
			{`const all = Object.keys(docs), has = ["get" in docs, "got" in docs], kinds = [typeof docs, typeof now, ` +
				`typeof later]; all.length`, docs, "value: 2"},
			{`[all, has, kinds]`, nil, `value: [["get","resolve_library_id"],[true,false],["object","function","undefined"]]`},
		},
		"only the namespace": {{`const a = typeof docs; a`, docs, `value: "object"`}, {`a`, nil, `value: "object"`}},
		"copied": {{`const copy = {...docs}; await copy.get({})`, docs, "value: 2"},
			{`await copy.get({})`, docs, "value: 2"}, {`1`, nil, "value: 1"}},
		"found by text": {{`const a = await globalThis["do" + "cs"]["g" + "et"]({}), b = await globalThis["no" + ` +
			`"w"]({}); a + b`, docs, "value: 5"}, {`a + b`, nil, "value: 5"}},
		"stored for later": {
			{`const server = docs, call = docs.get, clock = now; 1`, docs, "value: 1"},
			{`const got = [await call({}), await clock({}), await server.get({}), Object.keys(server).length]; got`, docs,
				"value: [2,3,2,2]"},
			{`let gone; try { await call({}) } catch (e) { gone = e.message }; [got, gone, Object.keys(server)]`, mail,
				`value: [[2,3,2,2],"the tool get is no longer available",[]]`},
			{`[got, gone]`, docs, `value: [[2,3,2,2],"the tool get is no longer available"]`},
		},
		"in place of a declaration": {
			{`const mail = 1, total = 2; globalThis.extra = 3; [mail, total, globalThis.extra]`, nil, "value: [1,2,3]"},
			{`1`, mail, "value: 1"},
			{`[typeof mail, typeof total, globalThis.extra]`, nil, `value: ["undefined","undefined",3]`},
			{`const mail = 4; mail`, nil, "value: 4"},
		},
		"discovery": {{`const found = await tools.search("resolve library"); found.length > 0`, searchable(docs),
			"value: true"},
			{`found.length > 0`, nil, "value: true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) { play(t, box, scenes) })
		})
	}
}

// The record of a program contains only the tools that it used.
func TestRecordHoldsUsedTools(t *testing.T) {
	t.Parallel()
	var many []tools.Source
	for i := range 2000 {
		many = append(many, &tools.Tool{Namespace: "crm", Name: fmt.Sprintf("update-customer-%d", i), Handler: answers("1")})
	}
	set := newSet(t, many...)
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		for _, c := range []struct {
			source string
			tools  int
		}{
			{`1`, 0}, {`await crm.update_customer_7({})`, 1}, {`typeof crm`, 1}, {`"nothing" in crm`, 1},
			{`Object.keys(crm).length`, 2000},
		} {
			step{c.source, "value: "}.in(t, session, set)
			record, err := session.AppendRecord(nil, session.Len()-1)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(record)), "\n")
			var line struct{ Tools []json.RawMessage }
			err = json.NewDecoder(strings.NewReader(lines[len(lines)-1])).Decode(&line)
			if err != nil || len(line.Tools) != c.tools {
				t.Errorf("%s: %d tools are recorded, want %d; %v", c.source, len(line.Tools), c.tools, err)
			}
		}
	})
}

// A session that ran one of the archived programs can be restored.
func TestRestoreArchives(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["inprocess"]
	set := testTools(t)
	for _, a := range archivesIn(t, "testdata/behaviour") {
		if !sampled(a.file, 4) {
			continue
		}
		p, _ := a.program(t)
		p.Tools, p.Limits.Time = set, 200*time.Millisecond // some never end
		session := box.NewSession(nil)
		if out, err := session.Run(t.Context(), p); err != nil || out.Failure != nil {
			continue // it left no trace
		}
		record, err := session.AppendRecord(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := box.RestoreSession(record)
		if err != nil {
			t.Errorf("%s: %v", a.file, err)
			continue
		}
		if got := outcomeOf(again.Run(t.Context(), sandbox.Program{Source: "1"})); !strings.HasPrefix(got, "value: 1\n") {
			t.Errorf("%s: %s", a.file, got)
		}
	}
}
