package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m.Run)) }

type Question struct {
	Country string `json:"country"`
}

type Answer struct {
	Capital string `json:"capital"`
}

var asking = signature.Must(signature.New[Question, Answer]("Name the capital."))

// atlas is a module that looks answers up. It has no answer if it knows only an empty string, and fails for countries
// that it does not know.
type atlas map[string]string

func (a atlas) Run(_ context.Context, in Question) (*module.Prediction[Answer], error) {
	capital, found := a[in.Country]
	if !found {
		return nil, errors.New("no such country: " + in.Country)
	}
	if capital == "" {
		return nil, fmt.Errorf("%w: %s has no capital", module.ErrNoAnswer, in.Country)
	}
	return &module.Prediction[Answer]{Output: Answer{capital}}, nil
}

// numbers returns n examples, and the module that answers them as far as right says so.
func numbers(n int, right func(i int) bool) ([]evaluate.Example[Question, Answer], atlas) {
	list, m := make([]evaluate.Example[Question, Answer], n), atlas{}
	for i := range list {
		country := fmt.Sprintf("country %d", i+1)
		list[i] = evaluate.Example[Question, Answer]{In: Question{country}, Want: Answer{"right"}}
		m[country] = "wrong"
		if right(i) {
			m[country] = "right"
		}
	}
	return list, m
}

func all(int) bool { return true }

// capitals returns a model that answers from a table, and "Atlantis" otherwise.
func capitals(known map[string]string) *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		for country, capital := range known {
			if strings.Contains(r.Last(), country) {
				return llmtest.Reply{Text: "[[ ## capital ## ]]\n" + capital + "\n\n[[ ## completed ## ]]", Model: "student"}, nil
			}
		}
		return llmtest.Reply{Text: "[[ ## capital ## ]]\nAtlantis\n\n[[ ## completed ## ]]", Model: "student"}, nil
	})
}

// contains fails the test if an error does not contain a text.
func contains(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, not %q", err, text)
	}
}
