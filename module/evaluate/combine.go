package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
)

// Part is a named metric of a combination.
type Part[In, Out any] struct {
	Name   string
	Metric Metric[In, Out]
	Weight float64 // in [Weighted]: from 1e-9 to 1e9
}

// Weighted is the weighted mean of several metrics. The score has the value of each metric as a part, by its name, and
// the parts of each metric as name.part. The feedback is that of all metrics.
func Weighted[In, Out any](parts ...Part[In, Out]) Metric[In, Out] {
	total := 0.0
	valid := len(parts) > 0
	for _, p := range parts {
		valid = valid && validWeight(p.Weight)
		total += p.Weight
	}
	return combined(parts, func(values []float64) (float64, error) {
		if !valid {
			return 0, errors.New("Weighted needs parts with weights from 1e-9 to 1e9")
		}
		sum := 0.0
		for i, p := range parts {
			sum += p.Weight * values[i]
		}
		return sum / total, nil
	})
}

// Min is the lowest value of several metrics: an answer is only as good as its worst aspect. If the metrics are 0 or 1,
// it is 1 if all of them are. Parts and feedback are those of [Weighted].
func Min[In, Out any](parts ...Part[In, Out]) Metric[In, Out] {
	return combined(parts, func(values []float64) (float64, error) {
		if len(values) == 0 {
			return 0, errors.New("Min needs parts")
		}
		return slices.Min(values), nil
	})
}

func combined[In, Out any](
	parts []Part[In, Out], combine func(values []float64) (float64, error),
) Metric[In, Out] {
	return func(ctx context.Context, e Example[In, Out], got *module.Prediction[Out]) (module.Score, error) {
		score := module.Score{Parts: map[string]float64{}}
		values := make([]float64, len(parts))
		var lines []string
		for i, p := range parts {
			s, err := p.score(ctx, e, got)
			if err != nil {
				return module.Score{}, err
			}
			if _, repeated := score.Parts[p.Name]; repeated {
				return module.Score{}, fmt.Errorf("two parts have the name %q", p.Name)
			}
			values[i], score.Parts[p.Name] = s.Value, s.Value
			for name, value := range s.Parts {
				score.Parts[p.Name+"."+name] = value
			}
			if s.Feedback != "" {
				lines = append(lines, p.Name+": "+s.Feedback)
			}
		}
		value, err := combine(values)
		score.Value, score.Feedback = value, strings.Join(lines, "\n")
		return score, err
	}
}

func (p Part[In, Out]) score(
	ctx context.Context, e Example[In, Out], got *module.Prediction[Out],
) (module.Score, error) {
	if p.Metric == nil {
		return module.Score{}, fmt.Errorf("part %q has no metric", p.Name)
	}
	s, err := p.Metric(ctx, e, got)
	if err == nil {
		err = checkScore(s)
	}
	if err != nil {
		return s, fmt.Errorf("part %q: %w", p.Name, err)
	}
	return s, nil
}
