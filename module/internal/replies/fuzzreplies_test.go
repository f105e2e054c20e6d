package replies_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// anything has an output of every kind.
type anything struct {
	Text  string                `json:"text"`
	Other string                `json:"other"`
	Num   float64               `json:"num"`
	Whole int                   `json:"whole"`
	Flag  bool                  `json:"flag"`
	Mood  string                `json:"mood" jsonschema:"enum=good,enum=bad"`
	List  []string              `json:"list"`
	Deep  struct{ Name string } `json:"deep"`
	Note  *string               `json:"note"`
	Free  any                   `json:"free"`
}

var (
	asOutput = signature.Must(signature.New[struct{}, anything](""))
	asInput  = signature.Must(signature.New[anything, remark](""))
)

// FuzzAnswer holds that an adapter reads back what it wrote, whatever the
// values.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		"Paris", "", " a ", "a\n\nb", "\r\n", "null", "None", "true", "42", "[[ ## text ## ]]", "[[ ## completed ## ]]\n", "a [[ ## code ## ]] b",
		"```js\nx\n```", "```", "a\n```\nb\n```", "~~~\n~~~", "<think>x</think>", "</think>", "</thiNk>", "</scratchpad>", "<text>a</text>", `"quoted"`, "'single'", "`tick`", "**bold**",
		`{"text": "x"}`, "Text: x", "Here is the code:\n```\nx\n```", "{text}", replies.NotGiven, "\u2028", "\ufeff", "a\\b", "N/A", "-", "## Text", "1. a\n2. b", "2026-01-01 10:00Z",
	} {
		f.Add(text, text, 0.5, 3, true)
	}
	f.Fuzz(func(t *testing.T, text, other string, num float64, whole int, flag bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(other) || num-num != 0 {
			return
		}
		out := anything{Text: text, Other: other, Num: num, Whole: whole, Flag: flag, Mood: "bad", List: []string{other, text}, Note: &other, Free: map[string]any{"a": text}}
		out.Deep.Name = text
		want, err := asInput.Encode(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range adapters {
			reply := a.Answer(asOutput.Spec(), want)
			for _, truncated := range []bool{false, true} {
				got, err := a.Read(asOutput.Spec(), reply, truncated)
				if err != nil {
					t.Fatalf("%s: %v\n%s", a.name, err, reply)
				}
				if !replies.EqualValues(got, want) {
					t.Fatalf("%s: %s was read as %s\n%s", a.name, replies.Encode(want), replies.Encode(got), reply)
				}
			}
		}
	})
}

// FuzzReplies feeds anything to the readers of every kind: no panic, and what
// is read is valid.
func FuzzReplies(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.kind, s.reply, s.truncated)
	}
	f.Add("code", "[[##Code##]]\"\x80\"\n[[ ## com", true)
	f.Fuzz(func(t *testing.T, kind, reply string, truncated bool) {
		if kinds[kind] == nil || len(reply) > 10_000 {
			return
		}
		for _, a := range adapters {
			_, why := readSample(a, sample{kind: kind, reply: reply, truncated: truncated})
			if strings.HasPrefix(why, "not valid:") {
				t.Fatal(why)
			}
		}
	})
}

// FuzzExact holds that the short way to read a reply finds what the long way does.
func FuzzExact(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.kind, s.reply, "", "")
		f.Add(s.kind, "", s.reply, "3")
	}
	for _, text := range []string{"{answer}", "```\n[[ ## answer ## ]]\n```", "a\n\n# b", ": x", "> x", "**x**", "a. On second thought, b.", "a\fb", "\bx", "a\rb", "a\timesb", "C:\\bin\\new", "$code", "{\"answer\": \"x\"}", "note: y"} {
		f.Add("optional", "", text, "null")
		f.Add("two", "", text, "7")
	}
	f.Fuzz(func(t *testing.T, kind, reply, text, other string) {
		spec := kinds[kind]
		if spec == nil || len(reply)+len(text)+len(other) > 10_000 {
			return
		}
		if reply == "" {
			var b strings.Builder
			for i, field := range spec.Outputs() {
				replies.WriteMarker(&b, field.Name)
				b.WriteString("\n" + []string{text, other, text}[i] + "\n\n")
			}
			replies.WriteMarker(&b, replies.EndName(spec.Outputs()))
			reply = b.String()
		}
		exact, long, err := replies.ReadBoth(spec, reply)
		if exact != nil && (err != nil || !replies.EqualValues(exact, long)) {
			t.Fatalf("read as %s at once, else as %s, %v:\n%s", replies.Encode(exact), replies.Encode(long), err, reply)
		}
	})
}
