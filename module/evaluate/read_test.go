package evaluate_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature"
)

type Review struct {
	Text  string   `json:"text"`
	Stars int      `json:"stars" jsonschema:"minimum=1,maximum=5"`
	Tags  []string `json:"tags,omitempty"`
}

type Verdict struct {
	Mood string  `json:"mood" jsonschema:"enum=good,enum=bad"`
	Sure float64 `json:"sure"`
	Why  *string `json:"why"`
}

var judging = signature.Must(signature.New[Review, Verdict](""))

type reviewed = evaluate.Example[Review, Verdict]

func read(text string, format string, o *evaluate.ReadOptions) ([]reviewed, error) {
	return evaluate.Read(strings.NewReader(text), format, judging, o)
}

func TestRead(t *testing.T) {
	t.Parallel()
	why := "3"
	want := []reviewed{
		{ID: "a", In: Review{"Fine, \"really\"", 5, []string{"x", "y"}}, Want: Verdict{"good", 0.5, &why}, Weight: 2,
			Group: "g", Note: "n"},
		{ID: "2", In: Review{Text: "Bad\nagain", Stars: 1}, Want: Verdict{Mood: "bad", Sure: 1}},
	}
	for format, text := range map[string]string{
		"jsonl": `{"id": "a", "text": "Fine, \"really\"", "stars": 5, "tags": ["x", "y"], "mood": "good", ` +
			`"sure": 0.5, "why": "3", "weight": 2, "group": "g", "note": "n", "extra": {}}` + "\n\n" +
			`{"text": "Bad\nagain", "stars": 1, "mood": "bad", "sure": 1.0, "why": null, "tags": null}` + "\r\n",
		"json": `[{"id": "a", "text": "Fine, \"really\"", "stars": 5, "tags": ["x", "y"], "mood": "good", "sure": 0.5,
			"why": "3", "weight": "2", "group": "g", "note": "n"},
			{"text": "Bad\nagain", "stars": 1e0, "mood": "bad", "sure": 1}]`,
		"csv": "\ufeffid, text,stars,tags,mood,sure,why,weight,group,note,\n" +
			"a,\"Fine, \"\"really\"\"\",5,\"[\"\"x\"\", \"\"y\"\"]\",good,0.5,3,2,g,n,\n" +
			",\"Bad\nagain\", 1 ,,bad,1,,,,,ignored\n",
	} {
		got, err := read(text, format, nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", format, got, err)
		}
	}
}

// An error says where it is and what to do.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	const good = `{"text": "a", "stars": 3, "mood": "good", "sure": 1}`
	for _, test := range []struct{ format, text, want string }{
		{"jsonl", "", `examples: there are no examples`},
		{"json", " [ ] ", `examples: there are no examples`},
		{"csv", "text,stars\n", `examples: there are no examples`},
		{"xml", "<a/>", `the format "xml" is not supported; use jsonl, json or csv`},
		{"jsonl", good + "\n{\"text\": tru}", `examples:2:13: the JSON is invalid: invalid character '}'`},
		{"jsonl", good + "\n  [1]", `examples:2:3: an example must be a JSON object, not [1]`},
		{"jsonl", `{"text": "a", "text": "b"}`, `examples:1:23: the name "text" is repeated`},
		{"jsonl", good + "\n" + strings.Replace(good, `3`, `"ten"`, 1),
			`examples:2:24: field "stars": the value must be an integer`},
		{"jsonl", strings.Replace(good, `good`, `fine`, 1),
			`examples:1:35: field "mood": the value must be one of "good", "bad", not "fine"`},
		{"jsonl", `{"text": "a", "Stars": 3}`, `examples:1:1: field "stars" is missing; did you mean "Stars"?`},
		{"jsonl", `{"text": "a", "stars": 3}`, `examples:1:1: field "mood" is missing; the row has ["stars" "text"]`},
		{"jsonl", `{"text": null, "stars": 3}`, `examples:1:10: field "text": the value must be a string, not null`},
		{"jsonl", `{"id": "1", ` + good[1:] + "\n" + `{"id": 1, ` + good[1:],
			`examples:2:1: the ID "1" is repeated; IDs must be unique`},
		{"jsonl", `{"id": {}, ` + good[1:], `examples:1:8: "id" must be a string, not {}`},
		{"jsonl", `{"weight": -1, ` + good[1:], `examples:1:12: "weight" must be a number from 1e-9 to 1e9, not "-1"`},
		{"jsonl", `{"weight": 0, ` + good[1:], `"weight" must be a number from 1e-9 to 1e9, not "0"`},
		{"jsonl", `{"weight": "NaN", ` + good[1:], `"weight" must be a number from 1e-9 to 1e9, not "NaN"`},
		{"jsonl", `{"weight": "+Inf", ` + good[1:], `"weight" must be a number from 1e-9 to 1e9, not "+Inf"`},
		{"jsonl", `{"weight": 1e308, ` + good[1:], `"weight" must be a number from 1e-9 to 1e9, not "1e308"`},
		{"json", "[\n  " + good + ",\n  {\"text\": 1}\n]", `examples:3:12: field "text": the value must be a string, not 1`},
		{"json", good, `examples:1:1: the examples must be a JSON array of objects`},
		{"json", "[" + good + "\n x]", `examples:2:2: the JSON is invalid: invalid character 'x' after array element`},
		{"json", "[" + good + ",", `examples:1:54: the JSON is invalid: unexpected end of JSON input`},
		{"json", "[" + good + "]\n\n[]", `examples:3:1: the JSON is invalid: invalid character '[' after top-level value`},
		{"csv", "text,stars,mood,sure\na,3,good,1\nb,ten,bad,1", `examples:3:3: field "stars": the value must be an integer`},
		{"csv", "text,stars,mood,sure\na,,good,1", `examples:2:3: field "stars": a value is required`},
		{"csv", "text,mood,sure\na,good,1", `examples:2: field "stars" is missing; the row has ["mood" "sure" "text"]`},
		{"csv", "text,stars\na,3,good", `examples:2:1: the row has 3 cells, but the header has 2 columns; ` +
			`quote a string that contains a comma`},
		{"csv", "text,stars,mood,sure\na,3,good,1\n\"b\nc\"", `examples:3:1: the row has 1 cell, but the header has 4 columns`},
		{"csv", "text,stars,text\na,3,b", `examples:1:12: the column "text" is repeated`},
		{"csv", "text\n\"a", `examples:2:3: extraneous or missing " in quoted-field`},
		{"csv", "text\na\xffb", `examples:2:1: invalid UTF-8`},
		{"json", "[\n\"a\xff\"]", `examples:2:1: invalid UTF-8`},
	} {
		_, err := read(test.text, test.format, nil)
		contains(t, err, test.want)
	}
	_, err := evaluate.Read(iotest.ErrReader(os.ErrClosed), "json", judging, nil)
	contains(t, err, "evaluate: examples: file already closed")
	_, err = evaluate.Read(nil, "jsonl", asking, nil)
	contains(t, err, "the reader is nil")
}

// The cells of a CSV file are read as their fields need them.
func TestReadCells(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.Parse(`text, any: any, maybe?: str, count?: int | str -> mood: str | None`, ""))
	for row, want := range map[string]string{
		`3,3,3,3,3`:             `{"text":"3","any":3,"maybe":"3","count":3,"mood":"3"}`,
		`True,True,True,True,x`: `{"text":"True","any":true,"maybe":"True","count":"True","mood":"x"}`,
		`null,null,,,`:          `{"text":"null","any":"null","mood":null}`,
		`[1],[1],[1],[1],null`:  `{"text":"[1]","any":[1],"maybe":"[1]","count":"[1]","mood":"null"}`,
		`"""a""","""a""",,,`:    `{"text":"\"a\"","any":"\"a\"","mood":null}`,
		`,x,,,`:                 `{"text":"","any":"x","mood":null}`,
	} {
		got, err := evaluate.Read(strings.NewReader("text,any,maybe,count,mood\n"+row), "csv", sig, nil)
		if err != nil {
			t.Errorf("%s: %v", row, err)
		} else if text := slices.Concat(got[0].In, got[0].Want).String(); text != want {
			t.Errorf("%s: got %s, not %s", row, text, want)
		}
	}
}

// Reading never panics, and an error names the data.
func FuzzRead(f *testing.F) {
	f.Add("jsonl", `{"id": 1, "text": "a\r\nb", "any": {"x": [1.50]}, "maybe": null, "mood": "x"}`)
	f.Add("json", `[{"text": "", "any": "3", "maybe": "", "mood": null, "count": -0}]`)
	f.Add("csv", "text,any,maybe,mood,weight\n\"a\nb\",\"[1, \"\"x\"\"]\",,y,1e-3\n")
	sig := signature.Must(signature.Parse(`text, any: any, maybe?: str, count?: int | str -> mood: str | None`, ""))
	f.Fuzz(func(t *testing.T, format, text string) {
		list, err := evaluate.Read(strings.NewReader(text), format, sig, nil)
		if err != nil && (list != nil || !strings.HasPrefix(err.Error(), "evaluate: examples:")) {
			t.Fatalf("got %v, %v", list, err)
		}
	})
}

func TestReadOptions(t *testing.T) {
	t.Parallel()
	const text = `{"key": "k", "split": "s", "importance": 3, "hint": "h", "review": "a", "stars": 3}`
	got, err := read(text, "jsonl", &evaluate.ReadOptions{
		Fields: map[string]string{
			"text": "review", "id": "key", "group": "split", "weight": "importance", "note": "hint",
		},
		Unlabeled: true,
	})
	want := []reviewed{{ID: "k", Group: "s", Weight: 3, Note: "h", In: Review{Text: "a", Stars: 3}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = read(text, "jsonl", &evaluate.ReadOptions{Fields: map[string]string{"texts": "review"}})
	contains(t, err, `ReadOptions.Fields has "texts", which is not a field of the signature`)
}

// A name in the options must be in the file, if only in one row. The default names may be missing.
func TestReadOptionsNameColumns(t *testing.T) {
	t.Parallel()
	const rows = `{"text": "a", "stars": 3, "hint": "h"}` + "\n" + `{"text": "b", "stars": 3, "key": "k"}`
	for _, name := range []string{"id", "group", "weight", "note", "tags"} {
		_, err := read(rows, "jsonl",
			&evaluate.ReadOptions{Fields: map[string]string{name: "x"}, Unlabeled: true})
		contains(t, err, "evaluate: examples: ReadOptions.Fields maps "+name+
			` to "x", but the rows have only ["hint" "key" "stars" "text"]`)
	}
	got, err := read(rows, "jsonl", &evaluate.ReadOptions{
		Fields: map[string]string{"id": "key", "note": "hint"}, Unlabeled: true,
	})
	if err != nil || got[0].ID != "1" || got[0].Note != "h" || got[1].ID != "k" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A signature may have fields with the names of the other parts of an example.
func TestReadFieldsNamedLikeLabels(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.Parse("id: int, note -> weight: float", ""))
	const text = `{"example_id": "x", "id": 7, "note": "m", "weight": 0.5, "example_weight": 3, "example_note": "n"}`
	want := []evaluate.Example[signature.Values, signature.Values]{{
		ID: "x", Weight: 3, Note: "n",
		In:   signature.Values{{Name: "id", JSON: []byte("7")}, {Name: "note", JSON: []byte(`"m"`)}},
		Want: signature.Values{{Name: "weight", JSON: []byte("0.5")}},
	}}
	got, err := evaluate.Read(strings.NewReader(text), "jsonl", sig, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "train.CSV")
	if err := os.WriteFile(path, []byte("text,stars,mood,sure\na,3,good,x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := evaluate.ReadFile(path, judging, nil)
	contains(t, err, path+`:2:10: field "sure": the value must be a number`)
	_, err = evaluate.ReadFile(filepath.Join(t.TempDir(), "a.json"), judging, nil)
	contains(t, err, "evaluate: open ")
}
