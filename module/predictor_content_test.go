package module_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

type album struct {
	Cover    signature.Image   `json:"cover"`
	Pages    []signature.Image `json:"pages"`
	Contract *signature.File   `json:"contract,omitempty"`
	Before   signature.History `json:"before,omitempty"`
	Question string            `json:"question"`
}

type reply struct {
	Answer string `json:"answer"`
}

// Images and files are sent next to the text, which says where they belong. Histories and demos
// become turns of the conversation.
func TestContent(t *testing.T) {
	t.Parallel()
	look := signature.Must(signature.New[album, reply]("Look."))
	picture := func(url string) signature.Image { return signature.Image{URL: "https://example.com/" + url} }
	turn, err := look.Turn(album{Cover: picture("old"), Pages: nil, Question: "And this?"}, reply{"Older."})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New("[[ ## answer ## ]]\nA lake.\n\n[[ ## completed ## ]]")
	p := module.NewPredict(look, model, nil)
	p.Predictor.Hint = "Look twice."
	p.Predictor.Demos = []module.Demo{{
		Inputs:  signature.Values{{Name: "question", JSON: json.RawMessage(`"Who?"`)}},
		Outputs: signature.Values{{Name: "answer", JSON: json.RawMessage(`"Nobody."`)}},
	}}
	_, err = p.Run(t.Context(), album{
		Cover: picture("a"), Pages: []signature.Image{picture("b"), {MIME: "image/png", Data: []byte("c")}},
		Contract: &signature.File{Name: "lease.pdf", MIME: "application/pdf", Data: []byte("d")},
		Before:   signature.History{turn}, Question: "What is it?",
	})
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(model.Requests()[0].Text(), "--- human ---\n")
	if got != contentWanted {
		t.Errorf("got:\n%s", got)
	}
	last := model.Requests()[0].Messages[5]
	if part, ok := last.Parts[4].(llms.BinaryContent); len(last.Parts) != 5 || !ok ||
		part.MIMEType != "application/pdf" || string(part.Data) != "d" {
		t.Errorf("the last message has %d parts: %v", len(last.Parts), last.Parts)
	}
}

const contentWanted = `[[ ## question ## ]]
Who?

Reply with [[ ## answer ## ]], and at the end [[ ## completed ## ]].
--- ai ---
[[ ## answer ## ]]
Nobody.

[[ ## completed ## ]]
--- human ---
[[ ## cover ## ]]
(attachment 1)

[[ ## pages ## ]]
[]

[[ ## question ## ]]
And this?

Reply with [[ ## answer ## ]], and at the end [[ ## completed ## ]].
https://example.com/old
--- ai ---
[[ ## answer ## ]]
Older.

[[ ## completed ## ]]
--- human ---
Look twice.

[[ ## cover ## ]]
(attachment 1)

[[ ## pages ## ]]
(attachments 2 to 3)

[[ ## contract ## ]]
(attachment 4: lease.pdf)

[[ ## question ## ]]
What is it?

Reply with [[ ## answer ## ]], and at the end [[ ## completed ## ]].
https://example.com/a
https://example.com/b
data:image/png;base64,Yw==
data:application/pdf;base64,ZA==
`

// A demo of Go values is validated like inputs and outputs.
func TestNewDemo(t *testing.T) {
	t.Parallel()
	d, err := module.NewDemo(grading, inContext{"Who?", "None."}, graded{"Nobody.", 90})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(d)
	const want = `{"inputs":{"question":"Who?","context":"None."},"outputs":{"answer":"Nobody.","score":90}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s and %v, want %s", got, err, want)
	}
	if _, err := module.NewDemo(grading, inContext{}, graded{Score: 101}); err == nil {
		t.Error("an answer that violates the signature is a demo")
	}
}
