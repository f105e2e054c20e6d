package module

import (
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type asked struct {
	Question string `json:"question"`
	Context  string `json:"context"`
}

type scored struct {
	Answer string `json:"answer"`
	Score  int    `json:"score"  jsonschema:"minimum=0,maximum=10"`
}

// BenchmarkRead measures writing a prompt and reading its reply, without a model.
func BenchmarkRead(b *testing.B) {
	sig := signature.Must(signature.New[asked, scored]("Answer from the context."))
	inputs, err := sig.Encode(asked{"Where does Mole live?", "Mole lives at Mole End, by the river."})
	if err != nil {
		b.Fatal(err)
	}
	outputs := signature.Values{
		{Name: "answer", JSON: replies.Quote("At Mole End.")},
		{Name: "score", JSON: replies.Quote("9")[1:2]},
	}
	for _, a := range []struct {
		name string
		Adapter
	}{{"markers", Markers()}, {"JSON", JSON()}} {
		reply := a.Answer(sig.Spec(), outputs)
		b.Run(a.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a.Question(sig.Spec(), inputs) == "" {
					b.Fatal("there is no request")
				}
				if _, err := a.Read(sig.Spec(), reply, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
