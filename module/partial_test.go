package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

type (
	recipeStep struct {
		Text    string `json:"text"`
		Minutes int    `json:"minutes"`
	}
	recipe struct {
		Title string         `json:"title"`
		Steps []recipeStep   `json:"steps"`
		Day   signature.Date `json:"day,omitzero"`
		Kind  kindOfMeal     `json:"kind"`
	}
	kindOfMeal string
)

func (kindOfMeal) Enum() []kindOfMeal { return []kindOfMeal{"starter", "main"} }

// Validate must not be called for a recipe that is not complete.
func (r recipe) Validate() error {
	if len(r.Steps) != 2 {
		return fmt.Errorf("there are %d steps", len(r.Steps))
	}
	return nil
}

var cooking = signature.Must(signature.New[orders, recipe]("Write a recipe."))

const (
	recipeJSON = `{"title": "Soup", "steps": [{"text": "Boil \"water\".", "minutes": 12}, {"text": "Eat."` +
		`, "minutes": 5}], "day": "2026-01-31", "kind": "main"}`
	recipeMarked = "[[ ## title ## ]]\nSoup\n\n[[ ## steps ## ]]\n" + `[{"text": "Boil \"water\".", "minutes": 12}, ` +
		`{"text": "Eat.", "minutes": 5}]` + "\n\n[[ ## day ## ]]\n2026-01-31\n\n[[ ## kind ## ]]\nmain\n\n[[ ## completed ## ]]"
)

// bytewise returns a model that streams replies, byte by byte.
func bytewise(list ...string) *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(list) {
			return llmtest.Reply{}, errors.New("the script has ended")
		}
		return llmtest.Reply{Text: list[r.N-1], Chunks: strings.Split(list[r.N-1], "")}, nil
	})
}

// streaming returns a model whose reply a function writes.
func streaming(reply func(ctx context.Context, write func(string)) (string, error)) *llmtest.Model {
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text, err := reply(ctx, func(piece string) { _ = r.Options.StreamingFunc(ctx, []byte(piece)) })
		return llmtest.Reply{Text: text}, err
	})
}

// partials returns the values of a stream and its error.
func partials(t *testing.T, s *module.Stream[recipe]) (list []signature.Partial[recipe], last error) {
	t.Helper()
	for p, err := range s.Partials() {
		if last = err; err == nil {
			list = append(list, p)
		}
	}
	return list, last
}

func TestPartials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model *llmtest.Model
		can   models.Capabilities
		o     module.Options
	}{
		"Markers": {bytewise(recipeMarked), models.Capabilities{}, module.Options{}},
		"JSON":    {bytewise("```json\n" + recipeJSON + "\n```"), models.Capabilities{}, module.Options{Adapter: module.JSON()}},
		"Native":  {bytewise("<think>Soup?</think>" + recipeJSON), models.Capabilities{Schema: true}, module.Options{}},
	} {
		s := module.Start(t.Context(), module.NewPredict(cooking, c.model.With(c.can), &c.o), anything)
		list, err := partials(t, s)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: got %v, %v", name, list, err)
		}
		final := list[len(list)-1]
		pred, err := s.Result()
		if err != nil || !final.Complete || fmt.Sprint(final.Value) != fmt.Sprint(pred.Output) || final.Open != "" ||
			len(final.Done) > 0 || final.Reply != 1 {
			t.Errorf("%s: got %+v, %v", name, final, err)
		}
		for _, p := range list[:len(list)-1] {
			v := p.Value
			switch {
			case p.Complete, p.Reply != 1,
				!strings.HasPrefix("Soup", v.Title), p.Open != "title" && v.Title != "Soup" && v.Title != "",
				v.Kind != "" && v.Kind != "main", v.Day != (signature.Date{}) && v.Day != final.Value.Day,
				len(v.Steps) > 0 && !strings.HasPrefix(`Boil "water".`, v.Steps[0].Text):
				t.Errorf("%s: got %+v", name, p)
			}
		}
	}
}

// A caller that takes every value sees the answer grow.
func TestPartialsInOrder(t *testing.T) {
	t.Parallel()
	pieces := []string{`{"title": "So`, `up", "steps": [`, `{"text": "Boil"`, `, "minutes": 12}, {"te`, `xt": "Eat.", `,
		`"minutes": 5}], "kind": "ma`, `in"}`} // a constant that is half written is left out
	taken := make(chan bool, 1)
	taken <- true
	model := streaming(func(_ context.Context, write func(string)) (string, error) {
		for _, piece := range pieces {
			<-taken
			write(piece)
		}
		return strings.Join(pieces, ""), nil
	})
	var got []string
	s := module.Start(t.Context(), module.NewPredict(cooking, model, &module.Options{Adapter: module.JSON()}), anything)
	for p, err := range s.Partials() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%q %v %q %v", p.Value.Title, p.Value.Steps, p.Open, p.Done))
		if !p.Complete {
			taken <- true
		}
	}
	want := []string{
		`"So" [] "title" []`,
		`"Soup" [] "" [title]`,
		`"Soup" [{Boil 0}] "" [title]`,
		`"Soup" [{Boil 12} { 0}] "" [title]`,
		`"Soup" [{Boil 12} {Eat. 0}] "" [title]`,
		`"Soup" [{Boil 12} {Eat. 5}] "" [title steps]`,
	}
	got = got[:min(len(got), len(want))] // the run may end before the last value is taken
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A reply that is rejected is followed by one that begins anew, with another number.
func TestPartialsOfRejected(t *testing.T) {
	t.Parallel()
	short := `{"title": "Nothing", "steps": [], "kind": "main"}`
	s := module.Start(t.Context(), module.NewPredict(cooking, bytewise(short, recipeJSON), nil), anything)
	list, err := partials(t, s)
	if err != nil || len(list) == 0 || list[len(list)-1].Reply != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	for _, p := range list {
		if p.Reply == 1 && !strings.HasPrefix("Nothing", p.Value.Title) || p.Reply == 2 && !strings.HasPrefix("Soup", p.Value.Title) {
			t.Errorf("got %+v", p)
		}
	}
}

// If a reply breaks off, the last item is the error, and no value is complete.
func TestPartialsOfBrokenReply(t *testing.T) {
	t.Parallel()
	broken := errors.New("the connection was lost")
	taken := make(chan struct{})
	model := streaming(func(_ context.Context, write func(string)) (string, error) {
		write(recipeJSON[:60])
		<-taken
		return "", broken
	})
	s := module.Start(t.Context(), module.NewPredict(cooking, model, &module.Options{Adapter: module.JSON()}), anything)
	var last error
	for p, err := range s.Partials() {
		if last = err; err != nil {
			continue
		}
		if p.Complete || p.Value.Title != "Soup" {
			t.Errorf("got %+v", p)
		}
		close(taken)
	}
	if !errors.Is(last, broken) {
		t.Error("the stream ended without an error")
	}
}

// Modules whose answer comes at once, and replies in other formats, have one value.
func TestPartialsAtOnce(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]module.Module[orders, recipe]{
		"CodeAct":     module.NewCodeAct(cooking, bytewise(fence("submit("+recipeJSON+")")), inProcess(t), nil, nil),
		"ReAct":       module.NewReAct(cooking, bytewise(action("submit", recipeJSON)), nil, nil),
		"with prose":  module.NewPredict(cooking, bytewise("Here it is:\n"+recipeJSON), &module.Options{Adapter: module.JSON()}),
		"not its own": module.NewPredict(cooking, bytewise(recipeJSON), nil),
	} {
		list, err := partials(t, module.Start(t.Context(), m, anything))
		if err != nil || len(list) != 1 || !list[0].Complete || len(list[0].Value.Steps) != 2 {
			t.Errorf("%s: got %+v, %v", name, list, err)
		}
	}
	for _, s := range []*module.Stream[recipe]{nil, {}, module.Start[orders, recipe](nil, nil, anything)} { //nolint:staticcheck // no context
		if list, err := partials(t, s); err == nil || len(list) > 0 {
			t.Errorf("got %v, %v", list, err)
		}
	}
}

// The answer of a module within a user's module is followed, and the events can be read as well.
func TestPartialsWithin(t *testing.T) {
	t.Parallel()
	inner := struct {
		Cook *module.ChainOfThought[orders, recipe]
	}{module.NewChainOfThought(cooking,
		bytewise("[[ ## reasoning ## ]]\nWater first.\n\n"+recipeMarked), nil)}
	s := module.Start(t.Context(), cook(inner), anything)
	texts := make(chan string)
	go func() {
		var all strings.Builder
		for e, err := range s.Events() {
			if err != nil {
				break
			}
			if d, ok := e.(event.TextDelta); ok && d.Field == "reasoning" {
				all.WriteString(d.Text)
			}
		}
		texts <- all.String()
	}()
	list, err := partials(t, s)
	if err != nil || len(list) == 0 || !list[len(list)-1].Complete {
		t.Errorf("got %+v, %v", list, err)
	}
	if got := <-texts; got != "Water first." {
		t.Errorf("got %q", got)
	}
}

type cook struct {
	Cook *module.ChainOfThought[orders, recipe]
}

func (c cook) Run(ctx context.Context, in orders) (*module.Prediction[recipe], error) {
	return c.Cook.Run(ctx, in)
}

func TestPartialsLeft(t *testing.T) {
	t.Parallel()
	model := streaming(func(ctx context.Context, write func(string)) (string, error) {
		write(recipeJSON[:60])
		<-ctx.Done()
		return "", ctx.Err()
	})
	s := module.Start(t.Context(), module.NewPredict(cooking, model, &module.Options{Adapter: module.JSON()}), anything)
	for _, err := range s.Partials() {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if _, err := s.Result(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
