package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

const bills = `{"rows":[{"id":1,"amount_minor":5,"owner":{"name":"Ann"}},` +
	`{"id":2,"amount_minor":90,"blocked":true,"owner":{"name":"Bo"}}],"page":1,"odd name":{"id":1}}`

// billTools returns the tools erp.list, whose result is an object, and erp.text, whose result
// is the same as text.
func billTools(t *testing.T) *tools.Set {
	t.Helper()
	text, err := json.Marshal(bills)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(),
		&tools.Tool{Namespace: "erp", Name: "list", Handler: answers(bills)},
		&tools.Tool{Namespace: "erp", Name: "text", Handler: answers(string(text))},
		&tools.Tool{Namespace: "erp", Name: "note", Handler: answers(`"some text"`)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// wrongTypes returns the messages of the warnings about wrong types.
func wrongTypes(out *sandbox.Outcome) string {
	var list []string
	for _, w := range out.Warnings {
		if w.Kind == "wrong_type" || w.Kind == "missing_member" {
			list = append(list, w.Message)
		}
	}
	return strings.Join(list, "; ")
}

// A member that no object at a place has is reported when it is read, unless the program only
// tests whether it exists.
func TestMisses(t *testing.T) {
	t.Parallel()
	const (
		rows = "; the 2 rows have id, amount_minor, owner, blocked"
		page = "; it has rows, page"
		used = "erp.list().rows[] is an object, but is used as a number or a string" + rows
	)
	set, boxes := billTools(t), openTiers(t, sandbox.Limits{})
	for source, want := range map[string]string{
		"p.rows.filter(b => b.amount > 80)":                             "erp.list().rows[] has no amount" + rows,
		"p.rows.map(({total}) => total)":                                "erp.list().rows[] has no total" + rows,
		"for (const {id, sum} of p.rows) console.log(id, sum)":          "erp.list().rows[] has no sum" + rows,
		"p.rows.map(r => r.owner.mail)":                                 "erp.list().rows[].owner has no mail; the 2 rows have name",
		"p['nextPage']":                                                 "erp.list() has no nextPage" + page,
		"p.total === 2":                                                 "erp.list() has no total" + page,
		"const t = JSON.parse(await erp.text()); t.rows[0].sum * 2":     "erp.text().rows[] has no sum" + rows,
		"const t = JSON.parse(p); t.rows[0].sum * 2":                    "erp.list().rows[] has no sum" + rows,
		"'a' + p.rows[0]":                                               used,
		"p.rows.join()":                                                 used,
		"(await erp.text()).rows ?? 0":                                  "erp.text() returns a string, which has no rows",
		"(await erp.note()).rows":                                       "erp.note() returns a string, which has no rows",
		"for (const c of await erp.text()) if (c.id > 1) break":         "a string has no id",
		"const t = await erp.text(); t.length":                          "erp.text() returns a string of JSON, whose length counts its characters",
		"try { p.map(x => x) } catch {}":                                "erp.list() has no map" + page,
		"await erp.text(); p.rows.length":                               "",
		"p.rows.filter(b => b.blocked).length":                          "",
		"p.rows.find(b => b.paid || !b.sent && b.done)":                 "",
		"p.items ?? p.rows; p.a || 1; p.b && 2; p?.c; p.d?.e; !p.f":     "",
		"typeof p.a; 'b' in p; p.c == null; p.d !== undefined":          "",
		"if (p.a) 1; while (p.b) 1; for (; p.c;) 1; p.d ? 1 : 2":        "",
		"const {a = 1, b: c = 2} = p; Array.isArray(p.d); Boolean(p.e)": "",
		"const k = 'total'; p[k]; p.rows[9]; p.toJSON; p.then":          "",
		"p['odd name'].total; p.rows[1].blocked; p.seen = 1; p.seen":    "",
		"({...p}).total; JSON.stringify(p); structuredClone(p).total":   "",
		"Object.create(null).total; ({}).total; [].total":               "",
	} {
		for tier, box := range boxes {
			out, err := box.Run(t.Context(), sandbox.Program{Source: "const p = await erp.list();\n" + source, Tools: set})
			if err != nil || out.Failure != nil {
				t.Fatalf("%s: %v %v", source, err, out.Failure)
			}
			if got := wrongTypes(out); got != want {
				t.Errorf("%s: %s:\ngot  %q\nwant %q", tier, source, got, want)
			}
		}
	}
}

// The prototypes that notice misses are invisible.
func TestPrototypesOfResults(t *testing.T) {
	t.Parallel()
	set, box := billTools(t), openTiers(t, sandbox.Limits{})["inprocess"]
	const source = `const p = await erp.list(), row = p.rows[0], heir = Object.create(p), keys = [];
		for (const key in row) keys.push(key);
		const frozen = Object.freeze(p.rows[1]);
		let refused = 0;
		try { frozen.x = 1 } catch { refused++ }
		row.added = 1; row.added += 1; delete row.id;
		const checks = {
			object: Object.getPrototypeOf(p) === Object.prototype, reflect: Reflect.getPrototypeOf(row) === Object.prototype,
			proto: row.__proto__ === Object.prototype, heir: heir.__proto__ === p && Object.getPrototypeOf(heir) === p,
			text: "".__proto__ === String.prototype && Object.getPrototypeOf(String.prototype) === Object.prototype,
			instance: p instanceof Object && Object.prototype.isPrototypeOf(p), own: row.hasOwnProperty("owner"),
			inherited: !("x" in p) && "toString" in p && row.constructor === Object, keys: keys.join() === "id,amount_minor,owner",
			frozen: refused === 1 && frozen.x === undefined, written: JSON.stringify(row) === '{"amount_minor":5,"owner":{"name":"Ann"},"added":2}',
			changed: Object.setPrototypeOf(row, {hi: 3}).hi === 3, none: Object.getPrototypeOf(Object.setPrototypeOf(row, null)) === null,
			sum: JSON.parse(await erp.text(), (k, v) => v).page === 1,
		};
		Object.keys(checks).filter(name => !checks[name])`
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil || out.Failure != nil || string(out.Value) != "[]" {
		t.Fatal(err, out.Failure, string(out.Value))
	}
}

// Results that a session keeps report the misses of the programs that read them, and only
// members that the results of the same program show.
func TestMissesInSessions(t *testing.T) {
	t.Parallel()
	set, box := billTools(t), openTiers(t, sandbox.Limits{})["inprocess"]
	session := box.NewSession(nil)
	for _, step := range []struct{ source, want string }{
		{"const p = await erp.list(); const sum = r => r.amount; p.rows.map(sum).length",
			"erp.list().rows[] has no amount; the 2 rows have id, amount_minor, owner, blocked"},
		{"p.rows.map(r => r.amount)", ""},                                    // this program has no results
		{"const q = await erp.list(); q.rows.map(sum); p.rows.map(sum)", ""}, // the read is in an earlier program
		{"const s = await erp.list(); p.total * 2", "erp.list() has no total; it has rows, page"},
	} {
		out, err := session.Run(t.Context(), sandbox.Program{Source: step.source, Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out.Failure)
		}
		if got := wrongTypes(out); got != step.want {
			t.Errorf("%s: got %q, want %q", step.source, got, step.want)
		}
	}
}
