package module

import (
	"encoding/json"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/signature"
)

type someone struct {
	Name  string  `json:"name"`
	Age   int     `json:"age"`
	Email *string `json:"email,omitempty"`
}

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
	"code": programQuestion.Spec(),
}

// unseen is a reply of testdata/unseen.
type unseen struct {
	kind, name string
	verdict    string // correct, error or either
	want       string // the object, if the verdict is not error
	reply      string
	truncated  bool
}

// unseenReplies reads testdata/unseen. The name of a section ends with the verdict
// of a careful reader, who may find a reading and an error as good as each other.
func unseenReplies(t *testing.T) (all []unseen) {
	files, err := filepath.Glob("testdata/unseen/*.txtar")
	if err != nil || len(files) != len(unseenKinds) {
		t.Fatal(err, len(files), "files")
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			u := unseen{kind: strings.TrimSuffix(filepath.Base(file), ".txtar")}
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
func (u unseen) read(a Adapter) (object, why string) {
	if u.kind == "code" {
		p, err := readProgram(Step{Reply: u.reply, Truncated: u.truncated})
		if err != nil {
			return "", err.Error()
		}
		raw, _ := json.Marshal(map[string]string{"code": p.code})
		return string(raw), ""
	}
	values, err := a.Read(unseenKinds[u.kind], u.reply, u.truncated)
	if err != nil {
		return "", err.Error()
	}
	raw, err := values.MarshalJSON()
	if err != nil {
		return "", err.Error()
	}
	if findings := unseenKinds[u.kind].Validate(raw); findings != nil {
		return "", "not valid: " + (&signature.InvalidError{Findings: findings}).Error()
	}
	return string(raw), ""
}

func (u unseen) judge(a Adapter) (score, string) {
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
	if kind == "code" {
		delete(all, "reasoning")
	}
	if day, ok := all["day"].(string); ok {
		all["day"] = instant(day)
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

// TestUnseenReplies reads the replies that were written by somebody who had not seen
// the readers, which were then mended by them: docs/measured/replies-unseen.md has their
// score as found.
func TestUnseenReplies(t *testing.T) {
	t.Parallel()
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) { readUnseen(t, a) })
	}
}

func readUnseen(t *testing.T, a Adapter) {
	var total score
	for _, u := range unseenReplies(t) {
		result, got := u.judge(a)
		total.add(result)
		if result.wrong > 0 {
			t.Logf("silently wrong: %s, %s: read as %s, want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
		if result.missed > 0 {
			t.Logf("not read: %s, %s: %s; want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
	}
	if t.Logf("%+v", total); total.wrong > 0 || total.share() < 0.95 {
		t.Errorf("%.1f%% of what a careful reader could use was read: %+v", 100*total.share(), total)
	}
}
