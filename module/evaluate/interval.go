package evaluate

// Interval is a mean with its 95 % confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`

	// N is the number of examples, or of groups if examples have them.
	N int `json:"n"`
}
