package replies_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

type place struct {
	Street string  `json:"street"`
	Number int     `json:"number"`
	City   *string `json:"city"`
}

type thing struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// kinds are the signatures that the replies of testdata/replies answer, by the
// name of the file.
var kinds = map[string]*signature.Spec{
	"string": about[struct {
		Answer string `json:"answer"`
	}](),
	"text": about[struct {
		Summary string `json:"summary"`
	}](),
	"int": about[struct {
		Count int `json:"count"`
	}](),
	"float": about[struct {
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}](),
	"bool": about[struct {
		Returned bool `json:"returned"`
	}](),
	"enum": about[struct {
		Mood string `json:"mood" jsonschema:"enum=good,enum=bad,enum=mixed"`
	}](),
	"list": about[struct {
		Tags []string `json:"tags"`
	}](),
	"struct": about[struct {
		Address place `json:"address"`
	}](),
	"structs": about[struct {
		Items []thing `json:"items"`
	}](),
	"optional": about[struct {
		Answer string  `json:"answer"`
		Page   int     `json:"page,omitempty"`
		Note   *string `json:"note"`
	}](),
	"date": about[struct {
		When time.Time `json:"when"`
	}](),
	"two": about[struct {
		Answer string `json:"answer"`
		Score  int    `json:"score" jsonschema:"minimum=0,maximum=10"`
	}](),
	"code": about[struct {
		Code string `json:"code"`
	}](),
}

func about[Out any]() *signature.Spec {
	type in struct {
		Text string `json:"text"`
	}
	sig := signature.Must(signature.New[in, Out](""))
	decoders.Store(sig.Spec(), decoder(func(raw json.RawMessage) error { _, err := sig.Decode(raw); return err }))
	return sig.Spec()
}

// decoder turns the outputs of a question into Go values, as a program gets them.
type decoder func(json.RawMessage) error

// decoders are by the *signature.Spec of the question.
var decoders sync.Map

// decode says what is wrong with the outputs of a question.
func decode(spec *signature.Spec, raw json.RawMessage) error {
	d, _ := decoders.Load(spec)
	return d.(decoder)(raw)
}

// sample is a reply, and what a careful reader takes from it.
type sample struct {
	kind, way string // of signature, and of answering
	want      string // an object, or "error"
	reply     string
	truncated bool
}

// samples reads module/testdata/replies. The name of a section is the way in which the
// reply is given, the reading that is expected, and whether it was cut off at the
// limit of tokens. A carriage return is written \r.
func samples(t testing.TB) []sample {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "replies", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no replies")
	}
	var all []sample
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			s := sample{kind: strings.TrimSuffix(filepath.Base(file), ".txtar")}
			var ok bool
			if s.way, s.want, ok = strings.Cut(f.Name, ": "); !ok || kinds[s.kind] == nil {
				t.Fatalf("%s: the section %q says nothing of what is expected", file, f.Name)
			}
			s.want, s.truncated = strings.CutSuffix(s.want, " (cut off)")
			s.reply = strings.ReplaceAll(strings.TrimSuffix(string(f.Data), "\n"), `\r`, "\r")
			all = append(all, s)
		}
	}
	return all
}

// score counts how replies were read.
type score struct {
	right   int // as a careful reader does
	refused int // an error where a careful reader would ask again as well
	missed  int // an error where a careful reader would not
	wrong   int // silently
}

func (s *score) add(o score) {
	s.right, s.refused, s.missed, s.wrong = s.right+o.right, s.refused+o.refused, s.missed+o.missed, s.wrong+o.wrong
}

// judge reads a sample and compares.
func judge(a module.Adapter, s sample) (score, string) {
	got, why := readSample(a, s)
	switch {
	case got == "" && s.want == "error":
		return score{refused: 1}, why
	case got == "":
		return score{missed: 1}, why
	case s.want != "error" && sameObject(kinds[s.kind], got, s.want):
		return score{right: 1}, got
	default:
		return score{wrong: 1}, got
	}
}

func readSample(a module.Adapter, s sample) (object, wrong string) {
	values, err := a.Read(kinds[s.kind], s.reply, s.truncated)
	if err != nil {
		return "", err.Error()
	}
	raw, err := values.MarshalJSON()
	if err != nil {
		return "", err.Error()
	}
	if err := decode(kinds[s.kind], raw); err != nil {
		return "", "not valid: " + err.Error()
	}
	return string(raw), ""
}

// sameObject compares two objects of outputs. An optional output that is null is as
// good as none.
func sameObject(spec *signature.Spec, a, b string) bool {
	return sameForm(spec, a) == sameForm(spec, b)
}

func sameForm(spec *signature.Spec, object string) string {
	var all map[string]any
	if json.Unmarshal([]byte(object), &all) != nil {
		return object
	}
	for _, f := range spec.Outputs() {
		if all[f.Name] == nil && !f.Required {
			delete(all, f.Name)
		}
	}
	dropNulls(all)
	raw, _ := json.Marshal(all)
	return string(raw)
}

func dropNulls(v any) {
	object, ok := v.(map[string]any)
	for name, inner := range object {
		if dropNulls(inner); ok && inner == nil {
			delete(object, name)
		}
	}
}

var adapters = []struct {
	name string
	module.Adapter
}{{"markers", module.Markers()}, {"JSON", module.JSON()}}

// TestReplies holds the promise of the readers: none of the replies is read
// wrongly, and nearly all that a careful reader could use are used.
func TestReplies(t *testing.T) {
	t.Parallel()
	all := samples(t)
	byKind, byWay := map[string]*score{}, map[string]*score{}
	for _, a := range adapters {
		var total score
		for _, s := range all {
			result, got := judge(a, s)
			total.add(result)
			if result.wrong > 0 {
				t.Errorf("%s, %s, %s: read as %s, want %s:\n%s", a.name, s.kind, s.way, got, s.want, s.reply)
			}
			if result.missed > 0 {
				t.Logf("%s, %s, %s: not read (%s), want %s:\n%s", a.name, s.kind, s.way, got, s.want, s.reply)
			}
			if a.Adapter == module.Markers() {
				way, _, _ := strings.Cut(s.way, " #")
				count(byKind, s.kind, result)
				count(byWay, way, result)
			}
		}
		if total.share() < 0.95 {
			t.Errorf("%s: %.1f%% of what a careful reader could use was read", a.name, 100*total.share())
		}
		count(byKind, "all, adapter "+a.name, total)
	}
	compareTable(t, byKind, byWay)
}

func count(table map[string]*score, row string, s score) {
	if table[row] == nil {
		table[row] = &score{}
	}
	table[row].add(s)
}

// share is how much of what a careful reader could use was read.
func (s score) share() float64 {
	return float64(s.right) / float64(max(1, s.right+s.missed+s.wrong))
}

var update = flag.Bool("update", false, "write the scores into docs/measured")

const scores = "../../../docs/measured/replies.md"

// compareTable compares the published scores with the measured ones.
func compareTable(t *testing.T, byKind, byWay map[string]*score) {
	want := scoresHead + "\n## By what is asked for\n\n" + rows("asked for", byKind) + "\n## By how it is answered\n\n" + rows("answered", byWay)
	if *update {
		if err := os.WriteFile(scores, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(scores); err != nil || string(have) != want {
		t.Errorf("%s is not what was measured; run this test with -update", scores)
	}
}

func rows(title string, table map[string]*score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | read as a careful reader does | asked again, as he would | asked again, needlessly | silently wrong |\n|---|---|---|---|---|\n", title)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		s := table[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, s.right, s.refused, s.missed, s.wrong)
	}
	return b.String()
}

const scoresHead = `# How replies are read

What the readers make of the replies in ` + "`module/testdata/replies`" + `, each
of which says what a careful reader would take from it: a value, or that he would
ask again. They were written before the readers, which were then mended by them:
so this says what the readers do, and not how they do on replies of tomorrow. What
is *silently wrong* would reach a program as an answer that nobody gave; what is
asked again costs one more call. The table by what is asked for has both adapters
in its first rows; all others are those of ` + "`module.Markers()`" + `. This file is written by ` + "`go test ./module/internal/replies -run TestReplies -update`" + `.
`
