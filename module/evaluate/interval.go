package evaluate

import (
	"fmt"
	"math"
	"slices"
)

// Interval is a weighted mean with its 95% confidence interval: the range that probably contains the mean over all
// examples of the same kind.
//
// The interval takes into account that results may depend on each other. All samples of an example count as one
// observation, and so do all examples of one Group: the variance of the mean is the cluster-robust variance that Miller
// recommends in "Adding Error Bars to Evals" (2024, arXiv:2411.00640). If there are few observations, the interval is
// wider, because it uses Student's t distribution with one degree of freedom fewer than there are observations.
//
// If all values are between 0 and 1, the interval takes into account that examples may occur whose values differ from
// all observed ones: it is never a point, even if all values are equal. If all values are 0 or 1, the interval is
// Wilson's ("Probable Inference", 1927). Its sample size is the number of independent observations that would have the
// same variance, as Korn and Graubard propose for surveys ("Confidence Intervals for Proportions with Small Expected
// Number of Positive Counts", 1998), but at most the number of observations. For other values, the interval follows
// the same argument, and is at most as wide as Wilson's for the same mean. docs/measured/evaluate.md shows how often
// such intervals contain the mean.
//
// If a value is outside the range from 0 to 1, the interval is the mean plus or minus t standard errors. It is too
// narrow if rare values differ a lot from the others. If all values are equal, it is a point.
//
// A single observation has no interval: Low and High are the mean.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`

	// N is the number of observations, which are examples or groups.
	N int `json:"n"`
}

// String returns the mean and the interval, such as 0.820 [0.692, 0.902].
func (i Interval) String() string { return i.format("%.3f") }

func (i Interval) format(number string) string {
	switch i.N {
	case 0:
		return "none"
	case 1:
		return fmt.Sprintf(number, i.Mean)
	}
	return fmt.Sprintf(number+" ["+number+", "+number+"]", i.Mean, i.Low, i.High)
}

// observation is one of the values that a mean is computed from.
type observation struct {
	cluster       string // observations of the same cluster depend on each other
	value, weight float64
}

// sums holds the sum of weighted values, and the sum of their weights.
type sums struct{ value, weight float64 }

func (s sums) plus(value, weight float64) sums {
	return sums{s.value + value*weight, s.weight + weight}
}

func (s sums) mean() float64 { return s.value / s.weight }

// clustered returns the sums of each cluster, in the order of their first observations, and of all clusters.
func clustered(all []observation) (list []sums, total sums) {
	places := map[string]int{}
	for _, o := range all {
		at, found := places[o.cluster]
		if !found {
			at = len(list)
			places[o.cluster], list = at, append(list, sums{})
		}
		list[at], total = list[at].plus(o.value, o.weight), total.plus(o.value, o.weight)
	}
	return list, total
}

// scoreInterval returns the mean of scores with its interval.
func scoreInterval(all []observation) Interval { return intervalOf(all, 0, 1) }

// intervalOf returns the mean of the observations with its interval. Low and high are the bounds of the values. If a
// value exceeds them, there are no bounds.
func intervalOf(all []observation, low, high float64) Interval {
	list, total := clustered(all)
	n := len(list)
	if n == 0 {
		return Interval{}
	}
	mean := total.mean()
	i := Interval{mean, mean, mean, n}
	if n == 1 {
		return i
	}
	variance, size := spread(all, list, total)
	t := studentT(n - 1)
	if slices.ContainsFunc(all, func(o observation) bool { return o.value < low || o.value > high }) {
		half := t * math.Sqrt(variance)
		i.Low, i.High = mean-half, mean+half
		return i
	}
	i.Low, i.High = mean-reach(mean-low, variance, size, t), mean+reach(high-mean, variance, size, t)
	return i
}

// spread returns the variance of the mean, and the number of independent observations that would have this variance.
// The number is at most that of the clusters, or lower if their weights differ (Kish, "Survey Sampling", 1965).
func spread(all []observation, list []sums, total sums) (variance, size float64) {
	var squares, single float64
	mean := total.mean()
	for _, c := range list {
		residual, share := (c.value-mean*c.weight)/total.weight, c.weight/total.weight
		variance, squares = variance+residual*residual, squares+share*share
	}
	for _, o := range all {
		single += o.weight / total.weight * (o.value - mean) * (o.value - mean)
	}
	k := float64(len(list))
	variance *= k / (k - 1)
	if size = 1 / squares; variance <= 1e-24*mean*mean { // all values are equal, apart from rounding
		return 0, size
	}
	return variance, min(single/variance, size)
}

// reach returns how far an interval extends from the mean of n observations towards a bound of the values.
//
// Wilson's interval has the means m with (mean-m)² ≤ t²v/n, where v is the variance of values with the mean m. For
// values other than 0 and 1, reach uses the variance of a mixture: the observed values, and as many values at the bound
// as it takes to have the mean m. The argument distance is that of the mean from the bound, and variance that of the
// mean.
func reach(distance, variance, n, t float64) float64 {
	if distance <= 0 {
		return 0
	}
	a, b := 1+t*t/n, t*t*(distance/n-variance/distance) // the solution of a·x² - b·x - t²·variance = 0
	return min((b+math.Sqrt(b*b+4*a*t*t*variance))/(2*a), distance)
}

// intervals returns the interval of each part, or nil if there are no parts.
func intervals[T any](parts map[string]T, intervalOf func(T) Interval) map[string]Interval {
	if len(parts) == 0 {
		return nil
	}
	all := map[string]Interval{}
	for name, values := range parts {
		all[name] = intervalOf(values)
	}
	return all
}

// studentT returns the 97.5% quantile of Student's t distribution: from a table for few degrees of freedom, and
// otherwise from the expansion in Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.7.5.
func studentT(freedom int) float64 {
	few := [...]float64{12.7062, 4.3027, 3.1824, 2.7764, 2.5706}
	if freedom <= len(few) {
		return few[freedom-1]
	}
	const z = 1.959964
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	f := float64(freedom)
	return z + (z3+z)/4/f + (5*z5+16*z3+3*z)/96/(f*f) + (3*z7+19*z5+17*z3-15*z)/384/(f*f*f)
}

// clusterOf returns the name of the cluster of an example: its group, or the example itself if it has no group.
func clusterOf(group, id string) string {
	if group != "" {
		return "group " + group
	}
	return "example " + id
}
