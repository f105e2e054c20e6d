package signature

// Partial is an output as far as a model has written it. module.Stream.Partials yields Partials.
//
// Everything in Value is final as long as the model's reply is accepted, except for the string at Open, which may
// become longer. Lists have the elements that have begun, and structs the fields; other fields are zero. A part that
// the rest of the reply may change, such as half of a number or a constant, is left out. A Partial is not validated: it
// may lack required fields, and neither Validate methods nor checks have been called.
type Partial[Out any] struct {
	Value Out `json:"value"`
	// Open is the path of the string that is still being written, such as orders[2].name, or "".
	Open string `json:"open,omitempty"`
	// Done has the names of the outputs that are complete. It is empty if Complete is set.
	Done []string `json:"done,omitempty"`
	// Reply is the number of the reply that the value is read from. If it is greater than before, the earlier reply was
	// rejected, and the value begins anew.
	Reply int `json:"reply"`
	// Complete means that the run has ended and that Value is its answer.
	Complete bool `json:"complete,omitempty"`
}
