package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature/schema"
)

// Example is a question with its expected answer.
type Example[In, Out any] struct {
	// ID identifies the example within its set. If it is empty, the ID is the number of the example in the set, from 1.
	ID string

	// In is the question.
	In In

	// Want is the expected answer.
	Want Out

	// Weight is how much the example counts, from 1e-9 to 1e9. Zero means 1.
	Weight float64

	// Group names what related examples share, such as the document that their questions are about. [Split]
	// keeps the examples of a group together, and intervals treat them as dependent.
	Group string

	// Note says in words what matters about the answer. The metrics of this package add it to the feedback on a wrong
	// answer.
	Note string
}

// numbered returns the examples with an ID and a weight for each, or an error if they are not a valid set.
func numbered[In, Out any](examples []Example[In, Out]) ([]Example[In, Out], error) {
	if len(examples) == 0 {
		return nil, errors.New("evaluate: the set of examples is empty")
	}
	set := make([]Example[In, Out], len(examples))
	places := make(map[string]int, len(examples))
	for i, e := range examples {
		if e.ID == "" {
			e.ID = strconv.Itoa(i + 1)
		}
		if first, found := places[e.ID]; found {
			return nil, fmt.Errorf("evaluate: examples %d and %d have the same ID %q; IDs must be unique",
				first+1, i+1, e.ID)
		}
		places[e.ID] = i
		if e.Weight == 0 {
			e.Weight = 1
		}
		if !validWeight(e.Weight) {
			return nil, fmt.Errorf("evaluate: example %q has the weight %v; weights must be from 1e-9 to 1e9",
				e.ID, e.Weight)
		}
		set[i] = e
	}
	return set, nil
}

// validWeight reports whether w is a valid weight of an example. Sums of larger or smaller ones could be inexact.
func validWeight(w float64) bool { return w >= 1e-9 && w <= 1e9 }

// encode returns a value as JSON, in the encoding of signatures. If a method of the value panics, encode returns an
// error.
func encode(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = lm.NewPanic(fmt.Sprintf("encoding %T", v), p)
		}
	}()
	return schema.Marshal(v)
}
