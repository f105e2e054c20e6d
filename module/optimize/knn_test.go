package optimize_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

// copier replies with the answer of the last demo, and counts the demos.
func copier(demos *atomic.Int64) *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		demos.Store(int64(len(r.Messages)-2) / 2)
		if len(r.Messages) < 4 {
			return reply("text", "unknown"), nil
		}
		last := llmtest.Request{Messages: r.Messages[len(r.Messages)-2 : len(r.Messages)-1]}
		return reply("text", inputOf(last.Text(), "text")), nil
	})
}

var bodies = signature.Must(signature.New[letter, response]("Reply."))

// lettersAbout returns letters whose subject decides the answer.
func lettersAbout(from, to int) (set []evaluate.Example[letter, response]) {
	for i := from; i < to; i++ {
		subject := strings.Fields("refund parcel password invoice")[i%4]
		set = append(set, evaluate.Example[letter, response]{
			ID: fmt.Sprint(i), In: letter{fmt.Sprintf("Letter %d is about my %s.", i, subject)}, Want: response{subject},
		})
	}
	return set
}

func TestKNNFewShot(t *testing.T) {
	t.Parallel()
	var shown, embedded atomic.Int64
	subjects := embedder(func(texts []string) (vectors [][]float32, _ error) {
		embedded.Add(int64(len(texts)))
		for _, text := range texts {
			v := make([]float32, 4)
			for i, subject := range strings.Fields("refund parcel password invoice") {
				if strings.Contains(text, subject) {
					v[i] = 1
				}
			}
			vectors = append(vectors, v)
		}
		return vectors, nil
	})
	d := optimize.Data[letter, response]{Train: lettersAbout(0, 24), Val: lettersAbout(100, 120)}
	for _, by := range []optimize.KNNFewShot{
		{}, {Embedder: subjects}, {Bootstrap: true}, {K: 2, Bootstrap: true},
	} {
		m := module.NewPredict(bodies, copier(&shown), nil)
		r, err := optimize.Run(t.Context(), m, by, d, sameText, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Best.Score != 1 || by.K == 0 && shown.Load() != 3 || by.K > 0 && shown.Load() != 2 {
			t.Errorf("%+v: scored %v with %d demos", by, r.Best.Score, shown.Load())
		}
		if r.Best.ID == 0 || len(r.Module.Predictor.Demos) != 24 {
			t.Errorf("candidate %d with %d demos", r.Best.ID, len(r.Module.Predictor.Demos))
		}
	}
	if n := embedded.Load(); n != 44 { // each demo once, and the questions
		t.Errorf("%d texts were embedded, want 44", n)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	var demos []module.Demo
	for _, e := range lettersAbout(0, 8) {
		d, err := module.NewDemo(bodies, e.In, e.Want)
		if err != nil {
			t.Fatal(err)
		}
		demos = append(demos, d)
	}
	asked, err := bodies.Encode(letter{"The INVOICE of letter 7"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := optimize.Nearest(2, nil)(t.Context(), asked, demos)
	if err != nil || len(got) != 2 || got[1].Inputs.String() != demos[7].Inputs.String() ||
		got[0].Inputs.String() != demos[3].Inputs.String() {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := optimize.Nearest(9, nil)(t.Context(), asked, demos); err != nil || len(got) != 8 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := optimize.Nearest(0, nil)(t.Context(), asked, demos); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	for want, e := range map[string]embedder{
		"the embedder failed: EmbedQuery: it is down": func([]string) ([][]float32, error) {
			return nil, errors.New("it is down")
		},
		"the embedder failed: EmbedDocuments returned 1 vectors for 8 texts": func([]string) ([][]float32, error) {
			return [][]float32{{1}}, nil
		},
	} {
		if _, err := optimize.Nearest(2, e)(t.Context(), asked, demos); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	bills := embedder(func(texts []string) (vectors [][]float32, _ error) { // by meaning, an invoice is like a refund
		for _, text := range texts {
			v := []float32{1, 0}
			if strings.Contains(text, "refund") || strings.Contains(text, "INVOICE") {
				v = []float32{0, 1}
			}
			vectors = append(vectors, v)
		}
		return vectors, nil
	})
	got, err = optimize.Nearest(3, bills)(t.Context(), asked, demos)
	if err != nil || len(got) != 3 || !strings.Contains(got[0].Inputs.String(), "invoice") ||
		!strings.Contains(got[1].Inputs.String(), "refund") || !strings.Contains(got[2].Inputs.String(), "refund") {
		t.Errorf("by words and meaning: got %v, %v", got, err)
	}
}

// embedder embeds queries like documents.
type embedder func(texts []string) ([][]float32, error)

func (e embedder) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return e(texts)
}

func (e embedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	vectors, err := e([]string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// A module whose demos are picked is saved with all of them, and loaded where PickDemos is set.
func TestSaveNearest(t *testing.T) {
	t.Parallel()
	var shown atomic.Int64
	d := optimize.Data[letter, response]{Train: lettersAbout(0, 24), Val: lettersAbout(100, 120)}
	m := module.NewPredict(bodies, copier(&shown), nil)
	r, err := optimize.Run(t.Context(), m, optimize.KNNFewShot{}, d, sameText, nil)
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := module.Save(&saved, r.Module); err != nil {
		t.Fatal(err)
	}
	want := `"source": "optimize.KNNFewShot, seed 0, candidate 1: scored 1 on 20 validation examples, 0 before"`
	if !strings.Contains(saved.String(), want) || !strings.Contains(saved.String(), `"picked": true`) {
		t.Errorf("saved %s", saved.String())
	}
	m = module.NewPredict(bodies, copier(&shown), nil)
	m.Predictor.PickDemos = optimize.Nearest(3, nil)
	if err := module.Load(&saved, m); err != nil {
		t.Fatal(err)
	}
	if pred, err := m.Run(t.Context(), letter{"Where is my parcel?"}); err != nil || pred.Output.Text != "parcel" {
		t.Errorf("got %v, %v", pred, err)
	}
}
