package replies

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// ExplainedSpec returns spec with an output for the reasoning before all others.
func ExplainedSpec(spec *signature.Spec) (*signature.Spec, error) {
	outputs := spec.Outputs()
	own, ok := OutputNamed(spec, reasoning.Name)
	if ok {
		outputs = slices.DeleteFunc(outputs, func(f signature.Field) bool { return f.Name == own.Name })
	} else {
		own = reasoning
		own.Name = UnusedName(spec, own.Name)
	}
	return signature.NewSpec(spec.Instructions(), spec.Inputs(), append([]signature.Field{own}, outputs...))
}

// UnusedName returns name, with underscores if spec has a field of that name.
func UnusedName(spec *signature.Spec, name string) string {
	for _, taken := spec.Field(name); taken; _, taken = spec.Field(name) {
		name += "_"
	}
	return name
}

// reasoning is the output in which a model explains its answer.
var reasoning, _ = signature.Must(signature.New[struct{}, struct {
	Reasoning string `json:"reasoning" jsonschema:"description=the steps that lead to the answer"`
}]("")).Spec().Field("reasoning")

// Explained divides a reply's values into spec's outputs and the reasoning, which it returns as text. Asked is the
// request's signature.
func Explained(
	asked, spec *signature.Spec, values signature.Values,
) (outputs signature.Values, reasoning string) {
	explains := func(v signature.Value) bool {
		_, known := asked.Field(v.Name)
		_, own := spec.Field(v.Name)
		return asked != spec && known && !own
	}
	var texts []string
	for _, v := range values {
		if strings.EqualFold(v.Name, "reasoning") || explains(v) {
			texts = append(texts, PlainText(v.JSON))
		}
	}
	return slices.DeleteFunc(slices.Clone(values), explains), strings.Join(texts, "\n\n")
}

// Lenient returns a spec in which the outputs that are not needed, such as thoughts, may be missing or of any type,
// because the answer does not depend on them.
func Lenient(spec *signature.Spec, needed func(name string) bool) *signature.Spec {
	outputs, all := spec.Outputs(), true
	for i, f := range outputs {
		if !needed(f.Name) {
			outputs[i], all = signature.Field{Name: f.Name, Description: f.Description}, false
		}
	}
	lenient, err := signature.NewSpec(spec.Instructions(), spec.Inputs(), outputs)
	if err != nil || all {
		return spec
	}
	return lenient
}
