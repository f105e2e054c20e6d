package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/chain"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// A session continues from its record in another sandbox after every step, and no tool is
// called again.
func TestRestoreSession(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		var calls atomic.Int64
		next := func(context.Context, struct{}) (int64, error) { return calls.Add(1), nil }
		fail := func(context.Context, struct{}) (int64, error) { return 0, errors.New("<no> & \xff") }
		set, err := tools.NewSet(t.Context(), tools.Func("next", "", next, nil), tools.Func("fail", "", fail, nil))
		if err != nil {
			t.Fatal(err)
		}
		session := box.NewSession(map[string]any{"limits": []string{"<&>", "\u2028"}})
		var record []byte
		for i, s := range []step{
			{`const number = await next(); let caught; try { await fail() } catch (e) { caught = e.message }; caught`,
				`value: "`},
			{`const chance = [Math.random(), Date.now()]; await Promise.all([next(), sleep(1), next()]); ` +
				`"<b>&</b>\u2028" + limits`, "value: "},
			{`const text = "</script>\u0000�"; [text.length, number, await next()]`, "value: [11,1,4]"},
			{`JSON.stringify([number, caught, chance, text])`, "value: "},
		} {
			s.in(t, session, set)
			if record, err = session.AppendRecord(record, i); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := session.AppendRecord(nil, 0)
		if err != nil || !bytes.Equal(whole, record) {
			t.Errorf("the whole record differs from its appended parts: %v\n%s\n%s", err, whole, record)
		}
		const question = `JSON.stringify([number, caught, chance, text, limits])`
		again, n, err := box.RestoreSession(record)
		if err != nil || n != len(record) || again.Len() != 4 {
			t.Fatalf("%d of %d bytes, %v", n, len(record), err)
		}
		made := calls.Load()
		got, want := outcomeOf(again.Run(t.Context(), sandbox.Program{Source: question})),
			outcomeOf(session.Run(t.Context(), sandbox.Program{Source: question}))
		if got != want || strings.Contains(got, "failure") || calls.Load() != made {
			t.Errorf("the restored session gave %s\nand the original %s; %d calls were made", got, want, calls.Load()-made)
		}
	})
}

// shouting compiles a program by adding a library.
type shouting struct{}

func (shouting) Compile(_ context.Context, source string) (*sandbox.Compiled, error) {
	return &sandbox.Compiled{
		Source:  strings.ReplaceAll(source, "SHOUT", "__writ_library__.shout"),
		Library: `let n = 0; return {shout: s => s.toUpperCase() + ++n}`,
	}, nil
}

// A record contains the compiled programs, and a library only once.
func TestRestoreCompiled(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		for i, source := range []string{`const a = SHOUT("a"); a`, `const b = SHOUT("b"); a + b`} {
			want := []string{`value: "A1"`, `value: "A1B2"`}[i]
			if got := outcomeOf(session.Run(t.Context(),
				sandbox.Program{Source: source, Compiler: shouting{}})); !strings.Contains(got, want) {
				t.Errorf("%s: %s", source, got)
			}
		}
		record, err := session.AppendRecord(nil, 0)
		if err != nil || strings.Count(string(record), "toUpperCase") != 1 {
			t.Errorf("%v\n%s", err, record)
		}
		again, _, err := box.RestoreSession(record)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcomeOf(again.Run(t.Context(),
			sandbox.Program{Source: `[a, b, SHOUT("c")]`, Compiler: shouting{}})); !strings.Contains(got,
			`value: ["A1","B2","C3"]`) {
			t.Error(got)
		}
	})
}

// A record contains every field of a step.
func TestRecordCarriesAll(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.NewInProcess)
	var full engine.Step
	fill(t, reflect.ValueOf(&full).Elem())
	full.Prelude = engine.NewPrelude("return 1") // it must be what its hash says
	session := box.NewSession(nil)
	sandbox.SetLog(session, full, engine.Step{Clock: &engine.Clock{}}, full)
	record, err := session.AppendRecord(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := box.RestoreSession(record)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sandbox.Log(again), sandbox.Log(session); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// fill sets every field to a nonzero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":[1.0,"<>&"]}`))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case v.Kind() == reflect.String:
		v.SetString("a")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	default:
		t.Fatalf("a step has a %v; extend this test to fill it", v.Type())
	}
}

// Every changed, removed or added byte of a record is detected. Only an incomplete last
// line is ignored.
func TestRecordDamaged(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.NewInProcess)
	session := box.NewSession(nil)
	for i := range 3 {
		step{fmt.Sprintf("const x%d = %d", i, i), ""}.in(t, session, nil)
	}
	record, err := session.AppendRecord(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int{}
	for i, c := range record {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	lastLine := ends[len(ends)-2]
	for i := range record {
		changed := bytes.Clone(record)
		changed[i] ^= 1
		_, _, err := box.RestoreSession(changed)
		if torn := i == len(record)-1; errors.Is(err, sandbox.ErrSessionLost) == torn {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, _, err := box.RestoreSession(append(bytes.Clone(record[:i]),
			record[i+1:]...)); (err == nil) != (i == len(record)-1) {
			t.Errorf("byte %d removed: %v", i, err)
		}
		cut, whole, err := box.RestoreSession(record[:i])
		switch {
		case i < ends[0]:
			if err == nil {
				t.Errorf("a record cut at %d, in its first line, was restored", i)
			}
		case err != nil || whole > i || whole < i && !strings.Contains(string(record[:i+1]), "\n") ||
			cut.Len() != bytes.Count(record[:i], []byte("\n"))-1:
			t.Errorf("cut at %d: %d, %v", i, whole, err)
		}
	}
	swapped := append(bytes.Clone(record[:ends[0]]), record[ends[1]:]...)
	if _, _, err := box.RestoreSession(swapped); !errors.Is(err, sandbox.ErrSessionLost) {
		t.Errorf("a line is missing: %v", err)
	}
	doubled := append(bytes.Clone(record), record[lastLine:]...)
	if _, _, err := box.RestoreSession(doubled); !errors.Is(err, sandbox.ErrSessionLost) {
		t.Errorf("a line is repeated: %v", err)
	}
}

// sealed makes a record of lines with valid checksums, as a forger could.
func sealed(lines ...string) []byte {
	var record []byte
	var sum chain.Sum
	for _, line := range lines {
		record, sum = sum.Append(record, []byte(line))
	}
	return record
}

// head returns the first line of a sandbox's records.
func head(t testing.TB, box *sandbox.Sandbox) string {
	t.Helper()
	record, err := box.NewSession(nil).AppendRecord(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(record), "} ")
	return line + "}"
}

func TestRecordRefused(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.NewInProcess)
	first := head(t, box)
	for name, c := range map[string]struct{ record, want string }{
		"empty":      {"", "line 1 of its record: the first line is missing"},
		"not sealed": {first + "\n", "line 1 of its record: the line is damaged"},
		"no JSON": {string(sealed(first, "x")),
			"line 2 of its record: invalid character 'x' looking for beginning of value"},
		"two values": {string(sealed(first, `{"source":"1","clock":{"start":1,"seed":1}} {}`)),
			"line 2 of its record: unexpected data after the end"},
		"unknown":  {string(sealed(first, `{"sauce":"1"}`)), `line 2 of its record: json: unknown field "sauce"`},
		"no clock": {string(sealed(first, `{"source":"1"}`)), "line 2 of its record: the program has no clock"},
		"library": {string(sealed(first,
			`{"source":"1","clock":{"start":1,"seed":1},"prelude":{"hash":"e5","text":"return 1"}}`)),
			"line 2 of its record: the library of the program does not match its hash"},
		"no library": {string(sealed(first, `{"source":"1","clock":{"start":1,"seed":1},"prelude":{"hash":"e5"}}`)),
			"line 2 of its record: the library of the program is missing"},
		"no such call": {string(sealed(first, `{"source":"1","clock":{"start":1,"seed":1},"turns":[{"call":1,"at":1}]}`)),
			"line 2 of its record: a turn refers to call 1, which does not exist"},
		"nameless": {string(sealed(first, `{"source":"1","clock":{"start":1,"seed":1},"tools":[{"names":[]}]}`)),
			"line 2 of its record: a tool has no name"},
		"not a name": {string(sealed(first, `{"source":"1","clock":{"start":1,"seed":1},"tools":[{"names":["a;b"]}]}`)),
			`line 2 of its record: the name "a;b" is not an identifier`},
		"input": {string(sealed(first,
			`{"source":"1","clock":{"start":1,"seed":1},"inputs":[{"name":"a b","json":1}]}`)),
			`line 2 of its record: the name "a b" is reserved or not an identifier`},
	} {
		session, n, err := box.RestoreSession([]byte(c.record))
		if want := sandbox.ErrSessionLost.Error() + ": " + c.want; session != nil || n != 0 ||
			!errors.Is(err, sandbox.ErrSessionLost) || err.Error() != want {
			t.Errorf("%s: got  %v\nwant %s", name, err, want)
		}
	}
}

// A record made by another version, in the other mode or under other rules is refused.
func TestRecordOfOthers(t *testing.T) {
	t.Parallel()
	boxes := []*sandbox.Sandbox{open(t, sandbox.NewInProcess), open(t, sandbox.New)}
	for _, rules := range []*sandbox.Rules{{}, {Lines: 9}, {Names: []string{"eval"}},
		{Patterns: []*regexp.Regexp{regexp.MustCompile("a+")}}} {
		box, err := sandbox.NewInProcess(&sandbox.Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		boxes = append(boxes, box)
	}
	for i, from := range boxes {
		for j, to := range boxes {
			_, _, err := to.RestoreSession(sealed(head(t, from)))
			if lost := errors.Is(err, sandbox.ErrSessionLost); lost != (i != j) {
				t.Errorf("from sandbox %d to %d: %v", i, j, err)
			}
		}
	}
	newer := strings.Replace(head(t, boxes[0]), "session 1", "session 2", 1)
	if _, _, err := boxes[0].RestoreSession(sealed(newer)); !errors.Is(err, sandbox.ErrSessionLost) ||
		!strings.Contains(err.Error(), `the record was made by "writ session 2", `) {
		t.Errorf("%v", err)
	}
}

// FuzzRestoreSession restores forged records. The result is an error, or a session that
// runs or returns an error.
func FuzzRestoreSession(f *testing.F) {
	boxes := map[bool]*sandbox.Sandbox{false: open(f, sandbox.NewInProcess), true: open(f, sandbox.New)}
	for isolated, box := range boxes {
		first := head(f, box)
		for _, line := range []string{
			`{"source":"const a = 1","clock":{"start":1,"seed":1}}`,
			`{"source":"await f({})","tools":[{"names":["f"]}],"clock":{"start":1,"seed":1},"calls":[{"tool":"f",` +
				`"args":{},"reply":{"value":1}}],"turns":[{"call":1,"at":2}],"value":1}`,
			`{"source":"await f({})","tools":[{"names":["f"]}],"clock":{"start":1,"seed":1},"calls":[{"tool":"f",` +
				`"args":{},"reply":{}}],"turns":[{"call":1,"at":2},{"call":1,"at":-2},{"timer":-1}],"value":1}`,
			`{"source":"await f.f({})","tools":[{"ns":"f","names":["f","f"],"params":["a"]}],"inputs":[{"name":"f",` +
				`"json":null}],"clock":{"start":-9223372036854775808,"seed":1,"fixed":true},"submit":true,"submitted":true}`,
			fmt.Sprintf(`{"source":"__writ_library__","clock":{"start":1,"seed":1},"prelude":{"hash":"%x","text":"return `+
				`1"},"value":1}`, sha256.Sum256([]byte("return 1"))),
		} {
			f.Add(first, line, true, isolated)
		}
		f.Add(strings.Replace(first, "}",
			`,"pin":{"time":-9223372036854775808,"seed":1},"inputs":[{"name":"a","json":[]}]}`, 1),
			`{"source":"a","clock":{"start":1,"seed":1}}`, true, isolated)
		f.Add(first, "", false, isolated)
		f.Add("", "\x00", false, isolated)
	}
	f.Fuzz(func(t *testing.T, head, line string, seal, isolated bool) {
		record := []byte(head + "\n" + line)
		if seal {
			record = sealed(head, line)
		}
		session, whole, err := boxes[isolated].RestoreSession(record)
		if err != nil {
			if !errors.Is(err, sandbox.ErrSessionLost) || session != nil || whole != 0 {
				t.Fatalf("%v, %d, %v", session, whole, err)
			}
			return
		}
		if whole > len(record) {
			t.Fatalf("%d of %d bytes", whole, len(record))
		}
		limits := sandbox.Limits{Time: 200 * time.Millisecond}
		out, err := session.Run(t.Context(), sandbox.Program{Source: "1", Limits: limits})
		switch {
		case err == nil && out == nil:
			t.Fatal("neither outcome nor error")
		case err != nil && strings.Contains(err.Error(), "out of range for Date"): // the pinned time has no year that Date supports
		case err != nil && !errors.Is(err, sandbox.ErrSessionLost):
			t.Fatal(err)
		}
	})
}
