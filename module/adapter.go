package module

import "github.com/writ-go/writ/signature"

// Adapter puts questions to a model and reads its replies: [Native], [Markers], [JSON],
// or one of your own. What it writes, it must read back. It is used concurrently.
type Adapter interface {
	// System is the system prompt: the spec's instructions, what the fields are,
	// how to answer, and the briefing. It should be the same for every
	// question of a Predictor, so that providers can cache it.
	System(spec *signature.Spec, briefing string) string

	// Question writes the inputs of a question, or of a demo, and ends with a
	// reminder of how to answer. With nil inputs it is the reminder alone.
	Question(spec *signature.Spec, inputs signature.Values) string

	// Answer writes outputs as the model is asked to, for demos and history. An
	// output that is missing is said to be, if it is required.
	Answer(spec *signature.Spec, outputs signature.Values) string

	// Read finds the outputs in a reply; truncated says that it was cut off at the
	// limit of tokens. All required outputs are there and each fits
	// its field, or there is an error that says what is wrong, worded for the
	// model: the adapters of this package return a *[ReadError].
	Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error)
}

// Markers returns the adapter that puts every field under a line of its own,
// [[ ## name ## ]], which no value contains by accident. Texts need no escapes,
// and the end marker tells a reply that is whole from one that is cut off.
func Markers() Adapter { return markers{} }

// JSON returns the adapter that asks for one JSON object with the outputs, for
// models that were trained to answer so or are made to by their provider. The
// inputs are put under field markers, as [Markers] does it.
func JSON() Adapter { return object{} }
