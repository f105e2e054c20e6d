package evaluate

import (
	"context"

	"github.com/writ-go/writ/module/models"
)

func withRun(ctx context.Context, _ string) context.Context { return ctx }

func newReport(results []Result, _ map[string]models.Price) *Report {
	r := &Report{Results: results}
	sum, weights := 0.0, 0.0
	for _, one := range results {
		if one.Err != "" {
			r.Errors++
			continue
		}
		sum, weights = sum+one.Weight*one.Score.Value, weights+one.Weight
		r.Score.N++
	}
	if weights > 0 {
		r.Score.Mean = sum / weights
	}
	return r
}
