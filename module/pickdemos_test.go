package module_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

type pickIn struct {
	Word string `json:"word"`
}

type pickOut struct {
	Length int `json:"length"`
}

var pickSignature = signature.Must(signature.New[pickIn, pickOut]("Count the letters."))

// pickedModule has two demos, of which the one with the word of the question is shown.
func pickedModule(t *testing.T) (*module.Predict[pickIn, pickOut], *llmtest.Model) {
	t.Helper()
	model := llmtest.New("[[ ## length ## ]]\n2\n\n[[ ## completed ## ]]")
	p := module.NewPredict(pickSignature, model, nil)
	for _, word := range []string{"one", "four"} {
		d, err := module.NewDemo(pickSignature, pickIn{word}, pickOut{len(word)})
		if err != nil {
			t.Fatal(err)
		}
		p.Predictor.Demos = append(p.Predictor.Demos, d)
	}
	p.Predictor.PickDemos = func(_ context.Context, in signature.Values, demos []module.Demo) ([]module.Demo, error) {
		word, err := signature.Get[string](in, "word")
		for _, d := range demos {
			if shown, _ := signature.Get[string](d.Inputs, "word"); shown == word {
				return []module.Demo{d}, err
			}
		}
		return nil, errors.New("nothing is similar")
	}
	return p, model
}

func TestPickDemos(t *testing.T) {
	t.Parallel()
	p, model := pickedModule(t)
	mustRun(t, p, pickIn{"four"})
	text := model.Requests()[0].Text()
	if !strings.Contains(text, "four") || strings.Contains(text, "one\n") {
		t.Errorf("the model was shown %s", text)
	}
	if _, err := p.Run(t.Context(), pickIn{"six"}); fmt.Sprint(err) != "module: PickDemos: nothing is similar" {
		t.Errorf("got %v", err)
	}
	p.Predictor.PickDemos = func(context.Context, signature.Values, []module.Demo) ([]module.Demo, error) {
		return []module.Demo{{Inputs: signature.Values{{Name: "other", JSON: []byte("1")}}}}, nil
	}
	want := `module: PickDemos: demo 1: the signature has no input "other"`
	if _, err := p.Run(t.Context(), pickIn{"six"}); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSavePickedDemos(t *testing.T) {
	t.Parallel()
	p, _ := pickedModule(t)
	p.Predictor.Source, p.Predictor.ToolDescriptions = "a search", map[string]string{"find": "It is slow."}
	var saved bytes.Buffer
	if err := module.Save(&saved, p); err != nil {
		t.Fatal(err)
	}
	fresh := module.NewPredict(pickSignature, llmtest.New(), nil)
	err := module.Load(bytes.NewReader(saved.Bytes()), fresh)
	if err == nil || !strings.Contains(err.Error(), "set PickDemos before Load") {
		t.Errorf("got %v", err)
	}
	fresh.Predictor.PickDemos = p.Predictor.PickDemos
	if err := module.Load(bytes.NewReader(saved.Bytes()), fresh); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := module.Save(&again, fresh); err != nil || again.String() != saved.String() {
		t.Errorf("got %v, and\n%s\nwant\n%s", err, again.String(), saved.String())
	}
}

func TestToolDescriptions(t *testing.T) {
	t.Parallel()
	p, model := pickedModule(t)
	p.Predictor.ToolDescriptions = map[string]string{"b": "Second. ", "a": "First."}
	mustRun(t, p, pickIn{"one"})
	text, want := model.Requests()[0].Text(), "\nMore about the tools:\n- a: First.\n- b: Second.\n"
	if !strings.Contains(text, want) {
		t.Errorf("the model was told %s", text)
	}
}
