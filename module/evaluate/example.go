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
	// ID identifies the example within its set. If it is empty, Evaluate uses the number of the example in the set,
	// counted from 1.
	ID string

	// In is the question.
	In In

	// Want is the expected answer.
	Want Out

	// Weight is the weight of the example in the score, from 1e-9 to 1e9. Zero means 1.
	Weight float64

	// Group is the same for examples that are related, such as questions about one document. [Split] keeps the examples
	// of a group together, and confidence intervals treat them as dependent.
	Group string

	// Note explains what matters in the answer. The metrics of this package add it to their feedback on a wrong answer.
	Note string
}

// numbered returns a copy of the examples in which each has an ID and a weight. It returns an error if the set is
// empty, an ID is repeated or a weight is invalid.
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

// validWeight reports whether w is a valid weight of an example. Sums of larger or smaller weights could be inexact.
func validWeight(w float64) bool { return w >= 1e-9 && w <= 1e9 }

// encode encodes a value as JSON in the same way as signatures do. It returns an error if a method of the value panics.
func encode(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = lm.NewPanic(fmt.Sprintf("encoding %T", v), p)
		}
	}()
	return schema.Marshal(v)
}
