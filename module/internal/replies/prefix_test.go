package replies_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type (
	prefixMood string
	prefixLine struct {
		Name  string     `json:"name"`
		Price float64    `json:"price"`
		Count int        `json:"count"`
		Mood  prefixMood `json:"mood,omitempty"`
		Due   *string    `json:"due"`
		Tags  []string   `json:"tags"`
	}
	prefixOut struct {
		Reasoning string         `json:"reasoning"`
		Title     string         `json:"title"`
		Note      string         `json:"note,omitempty"`
		Mood      prefixMood     `json:"mood"`
		Total     int            `json:"total"`
		Score     float64        `json:"score"`
		Sure      bool           `json:"sure"`
		Lines     []prefixLine   `json:"lines"`
		Grid      [][]int        `json:"grid"`
		Any       any            `json:"any"`
		Day       signature.Date `json:"day"`
		Best      *prefixLine    `json:"best"`
	}
)

func (prefixMood) Enum() []prefixMood { return []prefixMood{"good", "goodish", "bad"} }

var prefixSpec = signature.Must(signature.New[struct{}, prefixOut]("")).Spec()

// write returns a random string with characters that formats treat specially.
func write(r *rand.Rand) string {
	words := []string{"a", "b c", "\"", "\\", "\n", "é", "😀", "{", "[[", "]]", "[", "`", "```", "<", "</x>", "null", "1.",
		" ", "\u2028", "\t", "**", "- ", ":", "None", "[[ ## title", "Good", "\n\n", "title: x"}
	var b strings.Builder
	for range r.IntN(3) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

func some[T any](r *rand.Rand, max int, make func(*rand.Rand) T) []T {
	list := []T{}
	for range r.IntN(max) {
		list = append(list, make(r))
	}
	return list
}

func randomLine(r *rand.Rand) prefixLine {
	l := prefixLine{Name: write(r), Price: float64(r.IntN(2000)) / 8, Count: r.IntN(300) - 20, Tags: some(r, 2, write)}
	if r.IntN(2) == 0 {
		l.Mood = prefixMood("").Enum()[r.IntN(3)]
	}
	if r.IntN(2) == 0 {
		due := write(r)
		l.Due = &due
	}
	return l
}

func randomOut(r *rand.Rand) prefixOut {
	out := prefixOut{
		Reasoning: write(r), Title: write(r), Note: write(r), Mood: prefixMood("").Enum()[r.IntN(3)], Total: r.IntN(1e6) - 500,
		Score: float64(r.IntN(1000)) * 1.5e-3, Sure: r.IntN(2) == 0, Lines: some(r, 2, randomLine),
		Grid: some(r, 3, func(r *rand.Rand) []int { return some(r, 3, func(r *rand.Rand) int { return r.IntN(99) }) }),
		Any:  []any{nil, write(r), map[string]any{"title": write(r)}, 1.5}[r.IntN(4)],
		Day:  signature.Date{Year: 2026, Month: 2, Day: 1 + r.IntN(28)},
	}
	if r.IntN(8) == 0 {
		best := randomLine(r)
		out.Best = &best
	}
	return out
}

// writeReply writes outputs as a model may.
func writeReply(t *testing.T, r *rand.Rand, format replies.Format, native bool) string {
	t.Helper()
	raw, err := prefixSpec.OutputSchema().Encode(randomOut(r))
	if err != nil {
		t.Fatal(err)
	}
	var values signature.Values
	if err := json.Unmarshal(raw, &values); err != nil {
		t.Fatal(err)
	}
	if native && !slices.ContainsFunc(values, func(v signature.Value) bool { return v.Name == "note" }) {
		values = append(values, signature.Value{Name: "note", JSON: json.RawMessage("null")})
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	}
	text := prompt.Markers{}.Answer(prefixSpec, values)
	if format == replies.Object {
		text = prompt.Object{}.Answer(prefixSpec, values)
		if r.IntN(3) == 0 {
			var indented any = json.RawMessage(text)
			pretty, _ := json.MarshalIndent(indented, "", "  ") // also escapes < and U+2028
			text = string(pretty)
		}
	}
	switch r.IntN(6) {
	case 0:
		text = "<think>\nPerhaps {\"title\": \"draft\"}\n[[ ## title ## ]]\nno\n</think>\n\n" + text
	case 1:
		text = "```json\n" + text + "\n```"
	case 2:
		text = strings.Replace(text, `"good"`, `"Good"`, 1)
	case 3:
		text += "<|eot_id|>"
	}
	return text
}

// TestPrefix checks 2,000 replies cut at every byte: no prefix contradicts what is read from the whole reply.
func TestPrefix(t *testing.T) {
	t.Parallel()
	needed := func(name string) bool { return name != "reasoning" }
	for name, adapter := range map[string]interface {
		Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error)
	}{"JSON": prompt.Object{}, "Native": prompt.Native{}, "Markers": prompt.Markers{}} {
		format, native, each := replies.Object, name == "Native", 250
		if name == "Markers" {
			format, each = replies.Markers, 500
		}
		if os.Getenv("WRIT_TEST_FULL") != "1" { // 2,000 replies, instead of 200
			each /= 10
		}
		for shard := range uint64(2) {
			t.Run(fmt.Sprint(name, shard), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(shard, 33))
				prefix := replies.NewPrefix(prefixSpec, needed, format)
				partial, accepted := 0, 0
				for range each {
					text := writeReply(t, r, format, native)
					final, err := adapter.Read(prefixSpec, text, false)
					if err != nil {
						continue // the model is asked again
					}
					accepted++
					whole := map[string]any{}
					for _, v := range final {
						whole[v.Name] = decoded(v.JSON)
					}
					before := ""
					for n := range len(text) + 1 {
						b := prefix.Read(text[:n])
						partial += len(b.Values)
						now := b.Values.String() + b.Open + fmt.Sprint(b.Done)
						if now == before {
							continue
						}
						before = now
						if why := contradiction(b, whole); why != "" {
							t.Fatalf("%s in %s:\n%s\n\nthe reply:\n%s", why, b.Values, text[:n], text)
						}
					}
				}
				if accepted < each*3/4 || partial < accepted*300 {
					t.Errorf("%d of %d replies were accepted, with %d values", accepted, each, partial)
				}
			})
		}
	}
}

// contradiction says how b differs from the beginning of the final values.
func contradiction(b replies.Begun, final map[string]any) string {
	for _, v := range b.Values {
		whole, ok := final[v.Name]
		done := slices.Contains(b.Done, v.Name)
		switch {
		case v.Name == "reasoning":
			return "the reasoning is not needed"
		case !ok, done && !reflect.DeepEqual(decoded(v.JSON), whole):
			return v.Name + " differs"
		case !done && !begins(decoded(v.JSON), whole, v.Name, b.Open):
			return v.Name + " is no prefix"
		}
	}
	return ""
}

func decoded(raw json.RawMessage) any {
	d, err := jsonvalue.Decode(raw, 1000, true)
	if err != nil {
		return err
	}
	return d.Value
}

// begins reports whether a is a beginning of b, in which only the scalar at open may be cut off.
func begins(a, b any, path, open string) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		for name, member := range x {
			if ok = ok && y[name] != nil || member == nil; !ok || !begins(member, y[name], path+"."+name, open) {
				return false
			}
		}
		return ok
	case []any:
		y, ok := b.([]any)
		ok = ok && len(x) <= len(y)
		for i := 0; ok && i < len(x); i++ {
			ok = begins(x[i], y[i], fmt.Sprintf("%s[%d]", path, i), open)
		}
		return ok
	}
	if path == open {
		return strings.HasPrefix(fmt.Sprint(b), fmt.Sprint(a))
	}
	return reflect.DeepEqual(a, b)
}

// BenchmarkPrefix reads a reply that arrives in pieces of four bytes as module.Stream does: whenever it has grown by a
// thirtieth. The time for each byte does not depend on the reply's length.
func BenchmarkPrefix(b *testing.B) {
	spec := signature.Must(signature.New[struct{}, struct {
		Lines []prefixLine `json:"lines"`
	}]("")).Spec()
	all := func(string) bool { return true }
	for _, n := range []int{10, 100, 1000} {
		item := `{"name": "a line", "price": 12.5, "count": 3, "due": null, "tags": ["a", "b"]}`
		text := `{"lines": [` + strings.Repeat(item+",", n) + item + `]}`
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				prefix, size := replies.NewPrefix(spec, all, replies.Object), 0
				for at := 0; at < len(text); at += 4 {
					if at > size+size/30 {
						prefix.Read(text[:at])
						size = at
					}
				}
			}
		})
	}
}

// Notation at the end of a text is held back until it is known what it is.
func TestPrefixHoldsBack(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.Parse("-> title, note?", "")).Spec()
	p := replies.NewPrefix(spec, func(string) bool { return true }, replies.Markers)
	for text, want := range map[string]string{
		"Soup":                     "Soup",
		"Soup<|eot":                "Soup",
		"Soup a < b":               "Soup a < b",
		"Soup\n**[":                "Soup",
		"Soup [[ ## comp":          "Soup",
		"Soup\r":                   "Soup",
		"Soup \xf0\x9f":            "Soup",
		"nul":                      "",
		"\"So":                     "",
		"```\nSoup":                "",
		"{tit":                     "",
		"  Soup":                   "",
		"(not given":               "",
		"Soup\n\n[[ ## note ## ]]": "Soup",
	} {
		b := p.Read("[[ ## title ## ]]\n" + text)
		if got, _ := b.Values.Get("title"); replies.PlainText(got) != want && (got != nil || want != "") {
			t.Errorf("%q: got %s, want %q", text, got, want)
		}
	}
}
