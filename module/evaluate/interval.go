package evaluate

import (
	"fmt"
	"math"
)

// Interval is a weighted mean with its 95% confidence interval: the range that probably contains the mean over all
// examples of the same kind.
//
// The interval takes into account that results may depend on each other. All samples of an example count as one
// observation, and so do all examples of one Group: the variance of the mean is the cluster-robust variance that Miller
// recommends in "Adding Error Bars to Evals" (2024, arXiv:2411.00640). If there are few observations, the interval is
// wider, because it uses Student's t distribution with one degree of freedom fewer than there are observations.
//
// If all values are between 0 and 1, the interval is Wilson's ("Probable Inference", 1927). Its sample size is the
// number of independent observations that would have the same variance, as Korn and Graubard propose for surveys
// ("Confidence Intervals for Proportions with Small Expected Number of Positive Counts", 1998). Unlike the mean plus or
// minus its error, and unlike a bootstrap, it stays between 0 and 1, and does not shrink to a point if ten of ten
// answers are right. For other values, the interval is the mean plus or minus t standard errors.
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
func (i Interval) String() string {
	switch i.N {
	case 0:
		return "none"
	case 1:
		return fmt.Sprintf("%.3f", i.Mean)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Mean, i.Low, i.High)
}

// observation is one of the values that a mean is computed from.
type observation struct {
	cluster       string // observations of the same cluster depend on each other
	value, weight float64
}

// cluster has the sum of the weighted values, and the sum of the weights, of dependent observations.
type cluster struct{ value, weight float64 }

// clustered groups observations by their cluster. The clusters are in the order of their first observations.
func clustered(all []observation) []cluster {
	var list []cluster
	places := map[string]int{}
	for _, o := range all {
		at, found := places[o.cluster]
		if !found {
			at = len(list)
			places[o.cluster] = at
			list = append(list, cluster{})
		}
		list[at].value += o.weight * o.value
		list[at].weight += o.weight
	}
	return list
}

// meanOf returns the weighted mean of clusters.
func meanOf(list []cluster) float64 {
	var sum cluster
	for _, c := range list {
		sum.value += c.value
		sum.weight += c.weight
	}
	if sum.weight == 0 {
		return 0
	}
	return sum.value / sum.weight
}

// intervalOf returns the mean of the observations with its interval.
func intervalOf(all []observation) Interval {
	list := clustered(all)
	n, mean := len(list), meanOf(list)
	i := Interval{mean, mean, mean, n}
	if n < 2 {
		return i
	}
	var squares, weight float64
	for _, c := range list {
		weight += c.weight
	}
	for _, c := range list {
		residual := (c.value - mean*c.weight) / weight
		squares += residual * residual
	}
	k, t := float64(n), studentT(n-1)
	variance := k / (k - 1) * squares
	for _, o := range all {
		if o.value < 0 || o.value > 1 {
			half := t * math.Sqrt(variance)
			i.Low, i.High = mean-half, mean+half
			return i
		}
	}
	switch {
	case mean == 0 || mean == 1: // all values are equal, so the variance is unknown
		i.Low, i.High = wilson(mean, k, t)
	case variance > 0:
		i.Low, i.High = wilson(mean, mean*(1-mean)/variance, t)
	}
	return i
}

// intervals returns the interval of each part, or nil if there are no parts.
func intervals(parts map[string][]observation, of func([]observation) Interval) map[string]Interval {
	if len(parts) == 0 {
		return nil
	}
	all := map[string]Interval{}
	for name, list := range parts {
		all[name] = of(list)
	}
	return all
}

// wilson returns Wilson's score interval of a proportion among n observations, at the quantile z.
func wilson(p, n, z float64) (low, high float64) {
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return min(max(center-half, 0), p), max(min(center+half, 1), p)
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
