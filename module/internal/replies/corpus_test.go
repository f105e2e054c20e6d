package replies_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

var update = flag.Bool("update", false, "write the figures into docs/measured/replies.md")

// sample is a reply of a corpus. The name of its section ends with the requested form (markers or
// json), a label, and "truncated" if the reply was cut off at the token limit. The first line is
// the signature, or "program"; the second is the answer as JSON, or "error" if a careful reader
// would ask again; "either" before an answer means that both are acceptable.
//
// The labels:
//
//	structural  the form alone decides; the reply must never be misread
//	valid       in the requested form; it must be accepted
//	natural     only the meaning of words decides, which is not interpreted; asking again is fine
type sample struct {
	name, label string
	form        replies.Format
	spec        *signature.Spec // nil for a program
	want        string
	either      bool
	reply       string
	truncated   bool
}

func samples(t testing.TB, file string) []sample {
	archive, err := txtar.ParseFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]*signature.Spec{"program": nil}
	var all []sample
	for _, f := range archive.Files {
		words := strings.Fields(f.Name)
		head, reply, ok := strings.Cut(string(f.Data), "\n----\n")
		fields, want, both := strings.Cut(head, "\n")
		if len(words) < 3 || !ok || !both {
			t.Fatalf("%s: a part is missing in section %q", file, f.Name)
		}
		s := sample{name: words[0], label: words[2], reply: strings.TrimSuffix(reply, "\n"), truncated: len(words) > 3}
		if words[1] == "json" {
			s.form = replies.Object
		}
		if _, known := specs[fields]; !known {
			specs[fields] = parsed(t, fields)
		}
		s.spec = specs[fields]
		s.want, s.either = strings.CutPrefix(want, "either ")
		all = append(all, s)
	}
	return all
}

func parsed(t testing.TB, fields string) *signature.Spec {
	sig, err := signature.Parse(fields, "")
	if err != nil {
		t.Fatal(err)
	}
	return sig.Spec()
}

// read returns the answer that was read, or the error.
func (s sample) read(t *testing.T, box *sandbox.Sandbox) (answer string, err error) {
	t.Helper()
	if s.spec == nil {
		p, err := readProgram(t, box, s.reply, s.truncated)
		if err != nil {
			return "", err
		}
		return string(object(signature.Value{Name: "code", JSON: replies.Quote(p.Code)})), nil
	}
	values, err := replies.Read(s.spec, s.reply, s.truncated, s.form)
	if err != nil {
		return "", err
	}
	return string(object(values...)), nil
}

func object(values ...signature.Value) json.RawMessage {
	raw, err := signature.Values(values).MarshalJSON()
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return raw
}

// meaning normalizes an answer: the order of members, nulls, white space around texts, and the
// notation of numbers.
func meaning(answer string) string {
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return answer
	}
	if all, ok := v.(map[string]any); ok && all["code"] != nil {
		delete(all, "reasoning")
		all["code"] = strings.Join(strings.Fields(fmt.Sprint(all["code"])), " ")
	}
	raw, err := json.Marshal(plain(v))
	if err != nil {
		return answer
	}
	return string(raw)
}

func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return r.RatString()
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			if v[name] = plain(inner); inner == nil {
				delete(v, name)
			}
		}
	}
	return v
}

// score counts replies.
type score struct{ replies, read, again, needless, otherwise, wrong int }

func (c *score) add(s sample, answer string, err error) {
	c.replies++
	switch {
	case err == nil && meaning(answer) == meaning(s.want):
		c.read++
	case err != nil && (s.want == "error" || s.either):
		c.again++
	case err != nil:
		c.needless++
	case s.label == "natural":
		c.otherwise++
	default:
		c.wrong++
	}
}

// TestCorpus reads the replies of the corpora: no structural reply is misread, and every valid one
// is accepted.
func TestCorpus(t *testing.T) {
	t.Parallel()
	box := newSandbox(t)
	var table strings.Builder
	for _, set := range []struct {
		file, title string
		scored      bool // kept unchanged: none of it counts as an error
	}{
		{"forms.txtar", "selected from ten sets, mostly written to make a reader fail", false},
		{"prompts.txtar", "written for the real prompts", false},
		{"fresh.txtar", "by somebody who had not seen the reader", true},
	} {
		var total score
		for _, s := range samples(t, set.file) {
			answer, err := s.read(t, box)
			before := total
			total.add(s, answer, err)
			switch {
			case set.scored:
			case total.wrong > before.wrong:
				t.Errorf("%s, %s: read as %s, want %s:\n%s", set.file, s.name, answer, s.want, s.reply)
			case s.label == "valid" && total.read == before.read:
				t.Errorf("%s, %s: asked again: %v\n%s", set.file, s.name, err, s.reply)
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d (%.1f %%) | %d | %d |\n", set.title, total.replies, total.read,
			total.again, total.needless, 100*float64(total.needless)/float64(total.replies), total.otherwise, total.wrong)
	}
	checkTable(t, table.String())
}

// checkTable compares the rows of docs/measured/replies.md with the figures, or rewrites them.
func checkTable(t *testing.T, rows string) {
	const file = "../../../docs/measured/replies.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), "|---|---|---|---|---|---|---|\n")
	old, tail, also := strings.Cut(rest, "\n- ")
	switch {
	case !ok || !also:
		t.Fatal(file + " does not have its table")
	case *update:
		doc := head + "|---|---|---|---|---|---|---|\n" + rows + "\n- " + tail
		if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	case old != rows:
		t.Errorf("%s has\n%s\nrun with -update for\n%s", file, old, rows)
	}
}
