package evaluate_test

import (
	"bytes"
	"io"
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

func read(text string, format evaluate.Format, o *evaluate.ReadOptions) ([]reviewed, error) {
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
	for format, text := range map[evaluate.Format]string{
		evaluate.JSONL: `{"id": "a", "text": "Fine, \"really\"", "stars": 5, "tags": ["x", "y"], "mood": "good", ` +
			`"sure": 0.5, "why": "3", "weight": 2, "group": "g", "note": "n", "extra": {}}` + "\n\n" +
			`{"text": "Bad\nagain", "stars": 1, "mood": "bad", "sure": 1.0, "why": null, "tags": null}` + "\r\n",
		evaluate.JSON: `[{"id": "a", "text": "Fine, \"really\"", "stars": 5, "tags": ["x", "y"], "mood": "good", "sure": 0.5,
			"why": "3", "weight": "2", "group": "g", "note": "n"},
			{"text": "Bad\nagain", "stars": 1e0, "mood": "bad", "sure": 1}]`,
		evaluate.CSV: "\ufeffid, text,stars,tags,mood,sure,why,weight,group,note,\n" +
			"a,\"Fine, \"\"really\"\"\",5,\"[\"\"x\"\", \"\"y\"\"]\",good,0.5,3,2,g,n,\n" +
			",\"Bad\nagain\", 1 ,,bad,1,,,,,ignored\n",
	} {
		got, err := read(text, format, nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", format, got, err)
		}
		for _, format := range []evaluate.Format{evaluate.JSONL, evaluate.JSON, evaluate.CSV} {
			var b bytes.Buffer
			if err := evaluate.Write(&b, format, judging, want); err != nil {
				t.Fatal(err)
			}
			again, err := read(b.String(), format, nil)
			if err != nil || !reflect.DeepEqual(again, want) {
				t.Errorf("%s: got %+v, %v from %s", format, again, err, b.String())
			}
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
			`examples:2:1: the ID "1" is also that of the example in line 1; IDs must be unique`},
		{"jsonl", `{"id": {}, ` + good[1:], `examples:1:8: "id" must be a text, not {}`},
		{"jsonl", `{"weight": -1, ` + good[1:], `examples:1:12: "weight" must be a number from 1e-9 to 1e9, not "-1"`},
		{"jsonl", `{"weight": 1e308, ` + good[1:], `"weight" must be a number from 1e-9 to 1e9, not "1e308"`},
		{"json", "[\n  " + good + ",\n  {\"text\": 1}\n]", `examples:3:12: field "text": the value must be a string, not 1`},
		{"json", good, `examples:1:1: the examples must be a JSON array of objects`},
		{"json", "[" + good + "\n x]", `examples:2:2: the JSON is invalid: invalid character 'x' after top-level value`},
		{"json", "[" + good + ",", `examples:1:55: the JSON is invalid: the array has no end`},
		{"json", "[" + good + "]\n\n[]", `examples:3:1: the examples must be a JSON array of objects`},
		{"csv", "text,stars,mood,sure\na,3,good,1\nb,ten,bad,1", `examples:3:3: field "stars": the value must be an integer`},
		{"csv", "text,stars,mood,sure\na,,good,1", `examples:2:3: field "stars": a value is required`},
		{"csv", "text,mood,sure\na,good,1", `examples:2: field "stars" is missing; the row has ["mood" "sure" "text"]`},
		{"csv", "text,stars\na,3,good", `examples:2:1: the row has 3 cells, but the header has 2 columns; ` +
			`quote a text that contains a comma`},
		{"csv", "text,stars,mood,sure\na,3,good,1\n\"b\nc\"", `examples:3:1: the row has 1 cell, but the header has 4 columns`},
		{"csv", "text,stars,text\na,3,b", `examples:1:12: the column "text" is repeated`},
		{"csv", "text\n\"a", `examples:2:3: extraneous or missing " in quoted-field`},
		{"csv", "text\na\xffb", `examples:2:1: the text is not UTF-8`},
		{"json", "[\n\"a\xff\"]", `examples:2:1: the text is not UTF-8`},
	} {
		_, err := read(test.text, evaluate.Format(test.format), nil)
		contains(t, err, test.want)
	}
	_, err := evaluate.Read(iotest.ErrReader(os.ErrClosed), evaluate.JSON, judging, nil)
	contains(t, err, "evaluate: examples:1:1: file already closed")
}

// However a file arrives, all of it is read.
func TestReadInPieces(t *testing.T) {
	t.Parallel()
	for format, text := range map[evaluate.Format]string{
		evaluate.JSON:  "\ufeff \n[ \n" + `{"text": "a,[\"]", "stars": 3}, {"text": "b", "stars": 1}` + " ] \n",
		evaluate.JSONL: "\ufeff\n\n" + `{"text": "a,[\"]", "stars": 3}` + "\n \n" + `{"text": "b", "stars": 1}`,
		evaluate.CSV:   "\ufefftext,stars\n\n\n\"a,[\"\"]\",3\nb,1",
	} {
		for name, r := range map[string]io.Reader{
			"whole": iotest.DataErrReader(strings.NewReader(text)), "bytes": iotest.OneByteReader(strings.NewReader(text)),
		} {
			got, err := evaluate.Read(r, format, judging, &evaluate.ReadOptions{Unlabeled: true, MaxRow: 40})
			want := []reviewed{{ID: "1", In: Review{Text: `a,["]`, Stars: 3}}, {ID: "2", In: Review{Text: "b", Stars: 1}}}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: got %+v, %v", format, name, got, err)
			}
		}
	}
}

// A row is bounded by its bytes and by its values. Empty lines take neither time nor memory.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	const tooLarge = " the row has more than 1000 bytes or 62 values; raise ReadOptions.MaxRow"
	long, dense := strings.Repeat("x", 1000), strings.Repeat(`"",`, 62)+`""`
	empty := strings.Repeat("\n", 1_000_000)
	for _, test := range []struct{ format, text, want string }{
		{"jsonl", empty + `{"text": "a", "stars": 3}`, ""},
		{"json", empty + `[{"text": "a", "stars": 3}]` + empty, ""},
		{"jsonl", "\n" + `{"text": "` + long + `"}`, "2:1:" + tooLarge},
		{"json", "[\n" + `{"text": "` + long + `"}]`, "1:2:" + tooLarge},
		{"csv", "text,stars\na,3\n" + long + ",1", "3:" + tooLarge},
		{"csv", "text,stars\na,3\n\"" + long, "3:" + tooLarge},
		{"jsonl", `{"text": "a", "stars": 3, "tags": [` + dense + `]}`, "1:1:" + tooLarge},
		{"json", `[{"text": "a", "stars": 3, "tags": [` + dense + `]}]`, "1:2:" + tooLarge},
		{"csv", strings.Repeat("a,", 63), "1:" + tooLarge},
	} {
		r := iotest.OneByteReader(strings.NewReader(test.text))
		if test.want == "" {
			r = strings.NewReader(test.text)
		}
		list, err := evaluate.Read(r, evaluate.Format(test.format), judging,
			&evaluate.ReadOptions{Unlabeled: true, MaxRow: 1000})
		switch {
		case test.want == "" && (err != nil || len(list) != 1):
			t.Errorf("%s: got %v, %v", test.format, list, err)
		case test.want != "":
			contains(t, err, "evaluate: examples:"+test.want)
		}
	}
}

func TestReadOptions(t *testing.T) {
	t.Parallel()
	const text = `{"key": "k", "split": "s", "importance": 3, "hint": "h", "review": "a", "stars": 3}`
	got, err := read(text, evaluate.JSONL, &evaluate.ReadOptions{
		Fields: map[string]string{"text": "review"}, ID: "key", Group: "split", Weight: "importance", Note: "hint",
		Unlabeled: true,
	})
	want := []reviewed{{ID: "k", Group: "s", Weight: 3, Note: "h", In: Review{Text: "a", Stars: 3}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = read(text, evaluate.JSONL, &evaluate.ReadOptions{Fields: map[string]string{"texts": "review"}})
	contains(t, err, `ReadOptions.Fields has "texts", which is not a field of the signature`)
}

// A name in the options must be in the file, if only in one row. The default names may be missing.
func TestReadOptionsNameColumns(t *testing.T) {
	t.Parallel()
	const rows = `{"text": "a", "stars": 3, "hint": "h"}` + "\n" + `{"text": "b", "stars": 3, "key": "k"}`
	for option, o := range map[string]evaluate.ReadOptions{
		"ID": {ID: "x"}, "Group": {Group: "x"}, "Weight": {Weight: "x"}, "Note": {Note: "x"},
	} {
		o.Unlabeled = true
		_, err := read(rows, evaluate.JSONL, &o)
		contains(t, err, "evaluate: examples: ReadOptions."+option+
			` is "x", which no row has; the rows have ["hint" "key" "stars" "text"]`)
	}
	got, err := read(rows, evaluate.JSONL, &evaluate.ReadOptions{ID: "key", Note: "hint", Unlabeled: true})
	if err != nil || got[0].ID != "1" || got[0].Note != "h" || got[1].ID != "k" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A signature may have fields with the names of the other parts of an example.
func TestReadFieldsNamedLikeLabels(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.Parse("id: int, note -> weight: float", ""))
	for _, format := range []evaluate.Format{evaluate.JSONL, evaluate.CSV} {
		list := []evaluate.Example[signature.Values, signature.Values]{{
			ID: "x", Weight: 3, Note: "n",
			In:   signature.Values{{Name: "id", JSON: []byte("7")}, {Name: "note", JSON: []byte(`"m"`)}},
			Want: signature.Values{{Name: "weight", JSON: []byte("0.5")}},
		}}
		var b bytes.Buffer
		if err := evaluate.Write(&b, format, sig, list); err != nil {
			t.Fatal(err)
		}
		got, err := evaluate.Read(&b, format, sig, nil)
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("got %+v, %v", got, err)
		}
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

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	contains(t, evaluate.Write(nil, evaluate.JSONL, asking, nil), "the writer is nil")
	_, err := evaluate.Read(nil, evaluate.JSONL, asking, nil)
	contains(t, err, "the reader is nil")
	err = evaluate.Write(&bytes.Buffer{}, evaluate.JSON, judging, []reviewed{{ID: "x", In: Review{Stars: 9}}})
	contains(t, err, `example 1, "x": `)
	err = evaluate.Write(&bytes.Buffer{}, "xml", judging, nil)
	contains(t, err, `the format "xml" is not supported`)
}

// Whatever is read can be written in every format and read again.
func FuzzRead(f *testing.F) {
	f.Add("jsonl", `{"id": 1, "text": "a\r\nb", "any": {"x": [1.50]}, "maybe": null, "mood": "x"}`)
	f.Add("json", `[{"text": "", "any": "3", "maybe": "", "mood": null, "count": -0}]`)
	f.Add("csv", "text,any,maybe,mood,weight\n\"a\nb\",\"[1, \"\"x\"\"]\",,y,1e-3\n")
	f.Add("csv", "text,any,mood\nTrue,True,null\n")
	sig := signature.Must(signature.Parse(`text, any: any, maybe?: str, count?: int | str -> mood: str | None`, ""))
	f.Fuzz(func(t *testing.T, format, text string) {
		list, err := evaluate.Read(strings.NewReader(text), evaluate.Format(format), sig, nil)
		if err != nil {
			if list != nil || !strings.HasPrefix(err.Error(), "evaluate: examples:") {
				t.Fatalf("got %v, %v", list, err)
			}
			return
		}
		for _, format := range []evaluate.Format{evaluate.JSONL, evaluate.JSON, evaluate.CSV} {
			if format == evaluate.CSV && slices.ContainsFunc(list, hasReturn) {
				continue // encoding/csv changes the ends of lines
			}
			var b bytes.Buffer
			if err := evaluate.Write(&b, format, sig, list); err != nil {
				t.Fatalf("%s: %v of %+v", format, err, list)
			}
			again, err := evaluate.Read(bytes.NewReader(b.Bytes()), format, sig, nil)
			if err != nil || len(again) != len(list) {
				t.Fatalf("%s: %v from %q", format, err, b.String())
			}
			for i := range list {
				if got, want := plain(again[i]), plain(list[i]); got != want {
					t.Fatalf("%s: got %s, not %s, from %q", format, got, want, b.String())
				}
			}
		}
	})
}

func hasReturn(e evaluate.Example[signature.Values, signature.Values]) bool {
	return strings.Contains(plain(e), "\r") || strings.Contains(plain(e), `\r`)
}

// plain returns an example as text, without what a CSV file does not keep: an empty optional text, and the difference
// between null, an empty text and a missing value.
func plain(e evaluate.Example[signature.Values, signature.Values]) string {
	text := strings.Join([]string{e.ID, e.Group, e.Note}, "|")
	for _, v := range append(e.In, e.Want...) {
		if raw := string(v.JSON); raw != `""` && raw != "null" {
			text += "|" + v.String()
		}
	}
	return text
}
