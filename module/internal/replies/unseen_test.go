package replies_test

import (
	"encoding/json"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type someone struct {
	Name  string  `json:"name"`
	Age   int     `json:"age"`
	Email *string `json:"email,omitempty"`
}

// programSpec is the question for a program.
var programSpec = replies.ProgramSpec(specs["remark"])

// unseenKinds are the signatures of testdata/unseen, by the name of the file.
var unseenKinds = map[string]*signature.Spec{
	"text": about[struct {
		Answer string `json:"answer"`
	}](),
	"essay": about[struct {
		Essay string `json:"essay"`
	}](),
	"int": about[struct {
		Count int `json:"count"`
	}](),
	"float": about[struct {
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}](),
	"bool": about[struct {
		Safe bool `json:"safe"`
	}](),
	"enum": about[struct {
		Mood string `json:"mood" jsonschema:"enum=good,enum=bad,enum=mixed"`
	}](),
	"list": about[struct {
		Names []string `json:"names"`
	}](),
	"nested": about[struct {
		Person someone `json:"person"`
	}](),
	"people": about[struct {
		People []struct {
			Name string `json:"name"`
			Age  int    `json:"age"`
		} `json:"people"`
	}](),
	"optional": about[struct {
		Answer string  `json:"answer"`
		Note   *string `json:"note,omitempty"`
	}](),
	"date": about[struct {
		Day time.Time `json:"day"`
	}](),
	"two": about[struct {
		Mood  string  `json:"mood" jsonschema:"enum=good,enum=bad,enum=mixed"`
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}](),
	"code": programSpec,
}

// unseenKinds2 are those of testdata/unseen2.
var unseenKinds2 = map[string]*signature.Spec{
	"title": about[struct {
		Title string `json:"title"`
	}](),
	"poem": about[struct {
		Poem string `json:"poem"`
	}](),
	"year": about[struct {
		Year int `json:"year"`
	}](),
	"ratio": about[struct {
		Ratio float64 `json:"ratio" jsonschema:"minimum=0,maximum=1"`
	}](),
	"spam": about[struct {
		Spam bool `json:"spam"`
	}](),
	"priority": about[struct {
		Priority string `json:"priority" jsonschema:"enum=low,enum=normal,enum=urgent"`
	}](),
	"tags": about[struct {
		Tags []string `json:"tags"`
	}](),
	"address": about[struct {
		Address struct {
			Street string  `json:"street"`
			City   string  `json:"city"`
			Zip    *string `json:"zip,omitempty"`
		} `json:"address"`
	}](),
	"items": about[struct {
		Items []struct {
			SKU      string `json:"sku"`
			Quantity int    `json:"quantity"`
		} `json:"items"`
	}](),
	"remark": about[struct {
		Title  string  `json:"title"`
		Remark *string `json:"remark,omitempty"`
	}](),
	"at": about[struct {
		At time.Time `json:"at"`
	}](),
	"triage": about[struct {
		Priority string  `json:"priority" jsonschema:"enum=low,enum=normal,enum=urgent"`
		Hours    float64 `json:"hours" jsonschema:"minimum=0"`
	}](),
	"program": programSpec,
}

// unseenKinds3 are those of testdata/unseen3.
var unseenKinds3 = map[string]*signature.Spec{
	"string": about[struct {
		Answer string `json:"answer"`
	}](),
	"int": about[struct {
		Answer int `json:"answer"`
	}](),
	"bool": about[struct {
		Answer bool `json:"answer"`
	}](),
	"float": about[struct {
		Answer string  `json:"answer"`
		Sure   float64 `json:"sure" jsonschema:"minimum=0,maximum=1"`
	}](),
	"enum": unseenKinds["enum"],
	"strings": about[struct {
		Tags []string `json:"tags"`
	}](),
	"struct": about[struct {
		Person struct {
			Name    string `json:"name"`
			Age     int    `json:"age"`
			Address struct {
				Street string `json:"street"`
				City   string `json:"city"`
			} `json:"address"`
		} `json:"person"`
	}](),
	"optional": unseenKinds["optional"],
	"code":     programSpec,
}

// unseenKinds4 are those of testdata/unseen4, whose files have the name of a question
// and of the form that it was put in.
var unseenKinds4 = func() map[string]*signature.Spec {
	kinds := map[string]*signature.Spec{}
	for name, fields := range map[string]string{
		"sentiment": `review -> mood: Literal["positive","negative","mixed"], score: float(ge=0, le=1)`,
		"count":     `text -> people: int`,
		"spam":      `mail -> spam: bool, reason: str`,
		"tags":      `article -> tags: list[str]`,
		"person":    `letter -> person: dict[str, str], age: int`,
		"summary":   `minutes -> summary: str, next: list[str], deadline: str | None`,
		"answer":    `context: list[str], question -> answer: str`,
		"math":      `problem -> steps: str, result: float`,
		"extract":   `invoice -> items: list[dict[str, Any]], total: float, currency: Literal["EUR","USD","NOK"]`,
		"translate": `text, language -> translation: str, notes: str | None`,
		"sql":       `question, tables -> reasoning: str, sql: str`,
		"grade":     `essay, rubric -> grade: int(ge=1, le=6), strengths: list[str], weaknesses: list[str]`,
	} {
		sig := signature.Must(signature.Parse(fields, ""))
		decoded[sig.Spec()] = func(raw json.RawMessage) error { _, err := sig.Decode(raw); return err }
		kinds[name+".markers"], kinds[name+".json"] = sig.Spec(), sig.Spec()
	}
	return kinds
}()

// neighbourKinds are those of testdata/neighbours.
var neighbourKinds = func() map[string]*signature.Spec {
	kinds := maps.Clone(unseenKinds3)
	kinds["spam"] = unseenKinds2["spam"]
	kinds["count"] = unseenKinds["int"]
	return kinds
}()

// unseen is a reply of testdata/unseen.
type unseen struct {
	kind, name string
	spec       *signature.Spec
	verdict    string // correct, error or either
	want       string // the object, if the verdict is not error
	reply      string
	truncated  bool
}

// unseenReplies reads testdata/unseen. The name of a section ends with the verdict
// of a careful reader, who may find a reading and an error as good as each other.
func unseenReplies(t *testing.T, folder string, kinds map[string]*signature.Spec) (all []unseen) {
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(files) != len(kinds) {
		t.Fatal(err, len(files), "files")
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			u := unseen{kind: strings.TrimSuffix(filepath.Base(file), ".txtar")}
			u.spec = kinds[u.kind]
			u.name, u.truncated = strings.CutSuffix(f.Name, " truncated")
			u.verdict = u.name[strings.LastIndexByte(u.name, ' ')+1:]
			var ok bool
			if u.want, u.reply, ok = strings.Cut(string(f.Data), "\n----\n"); !ok {
				t.Fatalf("%s: %s has no line of ----", file, f.Name)
			}
			u.reply = strings.TrimSuffix(u.reply, "\n")
			all = append(all, u)
		}
	}
	return all
}

// read is what the readers make of it: those of programs, if that is asked for.
func (u unseen) read(a module.Adapter) (object, why string) {
	if u.spec == programSpec {
		p, err := replies.ReadProgram(u.reply, u.truncated)
		if err != nil {
			return "", err.Error()
		}
		raw, _ := json.Marshal(map[string]string{"code": p.Code})
		return string(raw), ""
	}
	values, err := a.Read(u.spec, u.reply, u.truncated)
	if err != nil {
		return "", err.Error()
	}
	raw, err := values.MarshalJSON()
	if err != nil {
		return "", err.Error()
	}
	if err := decoded[u.spec](raw); err != nil {
		return "", "not valid: " + err.Error()
	}
	return string(raw), ""
}

func (u unseen) judge(a module.Adapter) (score, string) {
	got, why := u.read(a)
	same := u.verdict != "error" && got != "" && meaning(u.kind, got) == meaning(u.kind, u.want)
	switch {
	case same:
		return score{right: 1}, got
	case got != "":
		return score{wrong: 1}, got
	case u.verdict == "correct":
		return score{missed: 1}, why
	}
	return score{refused: 1}, why
}

// meaning is an object without what its writing does not tell: blanks around
// texts, ends of lines, how numbers and moments are written, nulls.
func meaning(kind, object string) string {
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return object
	}
	if kind == "code" || kind == "program" {
		delete(all, "reasoning")
	}
	for _, name := range []string{"day", "at"} {
		if day, ok := all[name].(string); ok {
			all[name] = instant(day)
		}
	}
	raw, _ := json.Marshal(plain(all))
	return string(raw)
}

func instant(text string) string {
	text = strings.ToUpper(strings.Replace(text, " ", "T", 1))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return text
}

func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(strings.ReplaceAll(v, "\r\n", "\n"))
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

// TestUnseenReplies reads the replies that were written by others, who had not seen
// the readers; docs/measured/replies-unseen.md has their scores as found. The
// readers were mended by each set before the next was written, and by the last
// since. Those of testdata/neighbours differ by little from what is read, and were
// written to have the readers read them wrongly.
func TestUnseenReplies(t *testing.T) {
	t.Parallel()
	for _, set := range []struct {
		folder string
		kinds  map[string]*signature.Spec
		wrong  int     // that are known
		share  float64 // of what a careful reader could use
	}{{"unseen", unseenKinds, 0, 0.95}, {"unseen2", unseenKinds2, 0, 0.95}, {"unseen3", unseenKinds3, 0, 0.95}, {"unseen4", unseenKinds4, 0, 0.95}, {"neighbours", neighbourKinds, 0, 0.95}} {
		for _, a := range adapters {
			t.Run(set.folder+" "+a.name, func(t *testing.T) {
				total := readUnseen(t, a, unseenReplies(t, set.folder, set.kinds))
				if total.wrong > set.wrong || total.share() < set.share {
					t.Errorf("%.1f%% of what a careful reader could use was read: %+v", 100*total.share(), total)
				}
			})
		}
	}
}

func readUnseen(t *testing.T, a module.Adapter, replies []unseen) score {
	byKind := map[string]*score{}
	for _, u := range replies {
		result, got := u.judge(a)
		count(byKind, u.kind, result)
		count(byKind, "all", result)
		if result.wrong > 0 {
			t.Logf("silently wrong: %s, %s: read as %s, want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
		if result.missed > 0 {
			t.Logf("not read: %s, %s: %s; want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
	}
	t.Logf("\n%s", rows("asked for", byKind))
	return *byKind["all"]
}
