package replies_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/module"
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
	Bare  string                `json:"bare,omitempty"`
	Free  any                   `json:"free"`
}

// adapters write the forms that the readers read.
var adapters = map[string]module.Adapter{"markers": module.Markers(), "JSON": module.JSON()}

// special has texts that could be mistaken for something else.
var special = []string{
	"", " a ", "a\n\nb", "\r\n", "\n", "  a\n    b", "null", "None", "true", "42", "1e3", "[[ ## text ## ]]",
	"[[ ## completed ## ]]\n", "a [[ ## other ## ]] b", "[[wiki]]",
	"```js\nx\n```", "```", "a\n```\nb\n```", "```\na", "~~~\n~~~", "<think>x</think>", "</think>", "a\n</thiNk>\nb",
	"</scratchpad>", "<text>a</text>", `"quoted"`, `"open`, "'single'", "`tick`", "**bold**",
	`{"text": "x"}`, `["x"]`, "Text: x", "## Text", "{text}", "{other}", replies.NotGiven, "\u2028", "\ufeff", "\ufffd",
	"a\\b", "\\n", "N/A", "TODO", "-", "1. a\n2. b", "</s>", "<|eot_id|>", "$\\boxed{4}$",
}

// TestRoundTrip checks that an adapter reads what it writes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[struct{}, anything]("")).Spec()
	for i, text := range special {
		other := special[(i+7)%len(special)]
		roundTrip(t, spec, everything(t, text, other, 0.5, -3, true))
	}
	for _, text := range special {
		for _, fields := range []string{"v: str", "v?: str", "v: str | None", "v: Any", "v: list[str]", "v: dict[str, str]",
			"v: {w: str}", "v: {w?: list[str]}"} {
			quoted := string(replies.Quote(text))
			value := map[string]string{"list[str]": "[" + quoted + "]", "dict[str, str]": `{"a":` + quoted + "}",
				"{w: str}": `{"w":` + quoted + "}", "{w?: list[str]}": `{"w":[` + quoted +
					"]}"}[fields[strings.Index(fields, ": ")+2:]]
			if value == "" {
				value = quoted
			}
			roundTrip(t, parsed(t, "text -> "+fields), signature.Values{{Name: "v", JSON: json.RawMessage(value)}})
		}
	}
}

func everything(t testing.TB, text, other string, num float64, whole int, flag bool) signature.Values {
	out := anything{Text: text, Other: other, Num: num, Whole: whole, Flag: flag, Mood: "bad",
		List: []string{other, text}, Note: &other, Bare: text, Free: map[string]any{"a": text}}
	out.Deep.Name = text
	values, err := signature.Must(signature.New[anything, struct {
		X int `json:"x"`
	}]("")).Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func roundTrip(t *testing.T, spec *signature.Spec, want signature.Values) {
	for name, a := range adapters {
		reply := a.Answer(spec, want)
		for _, truncated := range []bool{false, true} {
			got, err := a.Read(spec, reply, truncated)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, reply)
			} else if meaningOf(t, got) != meaningOf(t, want) {
				t.Errorf("%s: %s was read as %s\n%s", name, want, got, reply)
			}
		}
	}
}

// meaningOf returns values in a form that does not depend on how their texts are escaped.
func meaningOf(t *testing.T, values signature.Values) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(object(values...))))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// FuzzRoundTrip checks the same for any values.
func FuzzRoundTrip(f *testing.F) {
	for i, text := range special {
		f.Add(text, special[(i+1)%len(special)], 0.5, 3, true)
	}
	spec := signature.Must(signature.New[struct{}, anything]("")).Spec()
	f.Fuzz(func(t *testing.T, text, other string, num float64, whole int, flag bool) {
		if utf8.ValidString(text) && utf8.ValidString(other) && num-num == 0 {
			roundTrip(t, spec, everything(t, text, other, num, whole, flag))
		}
	})
}

// FuzzRead gives the readers any reply. They must not panic, and what they return must be valid.
func FuzzRead(f *testing.F) {
	specs := []*signature.Spec{}
	for _, fields := range []string{"answer: str", "n: int",
		"mood: Literal['good', 'bad'], score: float(ge=0, le=1), note?: str", "tags: list[str]", "v: Any"} {
		specs = append(specs, parsed(f, "text -> "+fields))
	}
	for i, s := range samples(f, "forms.txtar") {
		f.Add(i%len(specs), s.reply, s.truncated)
	}
	f.Fuzz(func(t *testing.T, at int, reply string, truncated bool) {
		spec := specs[(at%len(specs)+len(specs))%len(specs)]
		for _, form := range []replies.Format{replies.Markers, replies.Object} {
			values, err := replies.Read(spec, reply, truncated, form)
			if err == nil && spec.Validate(object(values...)) != nil {
				t.Fatalf("%s is not valid: %v", values, spec.Validate(object(values...)))
			}
		}
	})
}
