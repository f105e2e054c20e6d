package signature_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/writ-go/writ/signature"
)

const (
	png     = "\x89PNG\r\n\x1a\nrest"
	dataURL = "data:image/png;base64,iVBORw0KGgpyZXN0"
)

type (
	album struct {
		Cover  signature.Image   `json:"cover" jsonschema:"description=On the front."`
		Back   *signature.Image  `json:"back"`
		Pages  []signature.Image `json:"pages,omitempty"`
		Loose  *[]signature.Image
		Letter signature.File     `json:"letter,omitzero"`
		Scans  []signature.File   `json:"scans,omitempty"`
		Before signature.History  `json:"before,omitempty"`
		Since  *signature.History `json:"since,omitempty"`
		Title  string             `json:"title,omitempty"`
	}
	caption struct {
		Text  string `json:"text"`
		Words int    `json:"words,omitempty"`
	}
	chat struct {
		Before   signature.History `json:"before"`
		Question string            `json:"question"`
		Photo    *signature.Image  `json:"photo"`
	}
	reply struct {
		Answer string `json:"answer" jsonschema:"minLength=2"`
		Score  *int   `json:"score"`
	}
)

func TestKinds(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[album, caption]("Describe.")).Spec()
	again, err := signature.NewSpec("Describe.", spec.Inputs(), spec.Outputs())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]signature.Kind{
		"cover": signature.KindImage, "back": signature.KindImage, "pages": signature.KindImage, "Loose": signature.KindImage,
		"letter": signature.KindFile, "scans": signature.KindFile,
		"before": signature.KindHistory, "since": signature.KindHistory, "title": signature.KindValue,
	}
	for _, s := range []*signature.Spec{spec, again} {
		for _, f := range s.Inputs() {
			if f.Kind() != want[f.Name] {
				t.Errorf("%s is of kind %q, want %q", f.Name, f.Kind(), want[f.Name])
			}
		}
	}
}

func TestKindErrors(t *testing.T) {
	t.Parallel()
	const within = `: an image, file or history can only be an input of its own, ` +
		`which may be optional and, except for a history, a list; make it a separate input`
	unknown := mustCompile(t, `{"x-writ": "sound"}`)
	_, unknownErr := signature.NewSpec("Hear.", []signature.Field{{Name: "a", Schema: unknown}},
		[]signature.Field{{Name: "b"}})
	either := mustCompile(t, `{"anyOf": [{"x-writ": "image"}, {"x-writ": "file"}]}`)
	_, eitherErr := signature.NewSpec("See.", []signature.Field{{Name: "a", Schema: either}},
		[]signature.Field{{Name: "b"}})
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"output", newError[none, struct{ A []signature.Image }](), `signature: output field "A": images, files and ` +
			`histories can only be inputs; use a type that a model can write`},
		{"in a struct", newError[struct{ A struct{ B signature.Image } }, caption](), `signature: input field "A"` + within},
		{"in a map", newError[struct{ A map[string]signature.File }, caption](), `signature: input field "A"` + within},
		{"in two lists", newError[struct{ A [][]signature.Image }, caption](), `signature: input field "A"` + within},
		{"histories", newError[struct{ A []signature.History }, caption](), `signature: input field "A"` + within},
		{"in a union", eitherErr, `signature: input field "a"` + within},
		{"unknown", unknownErr, `signature: input field "a": unknown kind "sound"; use "image", "file" or "history"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkError(t, test.err, test.want)
		})
	}
}

func TestImagesGoThroughValues(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[album, caption]("Describe."))
	in := album{
		Cover: signature.Image{URL: "https://example.com/a.png"},
		Back:  &signature.Image{Data: []byte(png)},
		Pages: []signature.Image{{URL: dataURL}, {MIME: "image/tiff", Data: []byte("x")}, {MIME: "image/jpeg",
			Data: []byte(png)}},
		Scans: []signature.File{{Name: "a.pdf", MIME: "application/pdf", Data: []byte("%PDF")}},
	}
	values, err := s.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	inPNG := signature.Image{MIME: "image/png", Data: []byte(png)}
	want := map[string][]signature.Image{
		"cover": {in.Cover}, "back": {inPNG}, "pages": {inPNG, in.Pages[1], inPNG}, "Loose": nil,
	}
	for name, images := range want {
		raw, _ := values.Get(name)
		if got, err := signature.Images(raw); err != nil || !reflect.DeepEqual(got, images) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, images)
		}
	}
	raw, _ := values.Get("scans")
	if got, err := signature.Files(raw); err != nil || !reflect.DeepEqual(got, in.Scans) {
		t.Errorf("got %v, %v", got, err)
	}
	untyped, err := signature.Typed[signature.Values, signature.Values](s.Spec())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := untyped.Encode(values); err != nil || !reflect.DeepEqual(again, values) {
		t.Errorf("got %s, %v, want %s", again, err, values)
	}
}

func TestMediaErrors(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[album, caption]("Describe."))
	type image = signature.Image
	cover := image{URL: "https://example.com/a.png"}
	tests := []struct {
		name string
		in   album
		want string
	}{
		{"nothing", album{}, `cover cannot be used: image: it has neither a URL nor data; set one of them`},
		{"both", album{Cover: image{URL: "https://a.b", Data: []byte(png)}}, `cover cannot be used: image: it has both ` +
			`a URL and data; set one of them`},
		{"type of a URL", album{Cover: image{URL: "https://a.b", MIME: "image/png"}}, `cover cannot be used: image: ` +
			`it has both a URL and a MIME type; remove the MIME type, which is only for data`},
		{"unknown format", album{Cover: image{Data: []byte("BM")}}, `cover cannot be used: image: its data is not PNG, ` +
			`JPEG, GIF or WebP; set MIME`},
		{"a path", album{Cover: image{URL: "cat.png"}}, `cover cannot be used: image: "cat.png" is not a URL that a ` +
			`provider can fetch; read the file, and set Data`},
		{"a file", album{Cover: image{URL: "file:///cat.png"}}, `cover cannot be used: image: "file:///cat.png" is not ` +
			`a URL that a provider can fetch; read the file, and set Data`},
		{"no URL", album{Cover: image{URL: "http://%"}}, `cover cannot be used: image: its URL is invalid: parse ` +
			`"http://%": invalid URL escape "%"`},
		{"data URL", album{Cover: image{URL: "data:image/png,x"}}, `cover cannot be used: image: its data URL does ` +
			`not have the form data:image/png;base64,…; set Data and MIME instead`},
		{"another scheme", album{Cover: image{URL: "ftp://a.b/c.png"}}, `cover cannot be used: image: "ftp://a.b/c.png" ` +
			`is not a URL that a provider can fetch; read the file, and set Data`},
		{"a script", album{Cover: image{URL: "javascript://a/%0aalert(1)"}}, `cover cannot be used: image: ` +
			`"javascript://a/%0aalert(1)" is not a URL that a provider can fetch; read the file, and set Data`},
		{"data URL of a page", album{Cover: image{URL: "data:text/html;base64,PGI+"}}, `cover cannot be used: image: ` +
			`its MIME type is "text/html"; use a type such as image/png`},
		{"type of two lines", album{Cover: image{MIME: "image/tiff\r\nX: 1", Data: []byte("x")}},
			`cover cannot be used: image: its MIME type is "image/tiff\r\nX: 1"; use a type such as image/png`},
		{"file of two lines", album{Cover: cover, Letter: signature.File{MIME: "text/plain;\r\nX: 1", Data: []byte("x")}},
			`letter cannot be used: file: its MIME type is "text/plain;\r\nX: 1"; use a type such as application/pdf`},
		{"in a list", album{Cover: cover, Pages: []image{cover, {}}}, `pages cannot be used: image 2: it has neither a ` +
			`URL nor data; set one of them`},
		{"file without type", album{Cover: cover, Letter: signature.File{Name: "a"}}, `letter cannot be used: file: it ` +
			`has no MIME type; set one, such as application/pdf`},
		{"empty file", album{Cover: cover, Scans: []signature.File{{MIME: "text/plain"}}},
			`scans cannot be used: file: it is empty; set Data`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Encode(test.in)
			checkError(t, err, "signature: input: "+test.want)
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[chat, reply]("Talk."))
	first, err := s.Turn(chat{Question: "Who?", Photo: &signature.Image{Data: []byte(png)}}, reply{Answer: "Me."})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Turn(chat{Before: signature.History{first}, Question: "Why?"}, reply{Answer: "Because."})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"question":"Why?","photo":null,"answer":"Because.","score":null}`
	if got, err := json.Marshal(second); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	values, err := s.Encode(chat{Before: signature.History{first, second}, Question: "When?"})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := values.Get("before")
	if turns, err := signature.Turns(raw); err != nil || !reflect.DeepEqual(turns, signature.History{first, second}) {
		t.Errorf("got %s, %v", turns, err)
	}
}

// A turn of Values does not need a history either.
func TestTurnOfValues(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.Parse("history: dspy.History, question -> answer", ""))
	asked := signature.Values{{Name: "question", JSON: json.RawMessage(`"Who?"`)}}
	answered := signature.Values{{Name: "answer", JSON: json.RawMessage(`"Me."`)}}
	turn, err := s.Turn(asked, answered)
	if want := append(slices.Clone(asked), answered...); err != nil || !reflect.DeepEqual(turn, want) {
		t.Errorf("got %s, %v", turn, err)
	}
}

func TestHistoryErrors(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[chat, reply]("Talk."))
	tests := []struct{ name, turn, want string }{
		{"unknown", `{"query": "Who?", "answer": "Me."}`, `before[0].query is not a field of the signature (fields: ` +
			`before, question, photo, answer, score)`},
		{"no answer", `{"question": "Who?"}`, `before[0].answer is required (a turn needs its answer)`},
		{"misfit", `{"question": 1, "answer": "I"}`, "before[0].question must be a string, not 1\nbefore[0].answer must " +
			"have at least 2 characters, not 1"},
		{"history", `{"before": [], "answer": "Me."}`, `before[0].before is a history within a history (remove it ` +
			`from the turn)`},
		{"image", `{"photo": {}, "answer": "Me."}`, `before[0].photo cannot be used: image: it has neither a URL nor ` +
			`data; set one of them`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var turn signature.Values
			if err := json.Unmarshal([]byte(test.turn), &turn); err != nil {
				t.Fatal(err)
			}
			_, err := s.Encode(chat{Before: signature.History{turn}, Question: "When?"})
			checkError(t, err, "signature: input: "+test.want)
		})
	}
	_, err := s.Turn(chat{Question: "Who?"}, reply{Answer: "I"})
	checkError(t, err, `signature: output: answer must have at least 2 characters, not 1`)
}
