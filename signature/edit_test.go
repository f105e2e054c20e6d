package signature_test

import (
	"slices"
	"testing"

	"github.com/writ-go/writ/signature"
)

type (
	order struct {
		Text string `json:"text" jsonschema:"minLength=1,description=What was said."`
	}
	// parcel has rules about several fields, and one about a format.
	parcel struct {
		Sent  string `json:"sent" jsonschema:"format=date,description=The day."`
		Email string `json:"email,omitempty" jsonschema:"oneof_required=email"`
		Phone string `json:"phone,omitempty" jsonschema:"oneof_required=phone"`
		Note  string `json:"note,omitempty"`
	}
)

func declared(s *signature.Spec) string {
	return s.InputSchema().TypeScript(nil) + " → " + s.OutputTypeScript()
}

func TestEdits(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[order, parcel]("Send it.")).Spec()
	const outputs = `{sent: string /* date. The day. */; email?: string; phone?: string; note?: string}`
	before := declared(spec)
	score := signature.Field{Name: "score", Description: "How sure.", Schema: mustCompile(t, `{"type": "integer"}`),
		Required: true}
	two := []signature.Field{score, {Name: "any"}}
	sent, _ := spec.Field("sent")
	sent.Name, sent.Required = "day", false
	tests := []struct {
		name string
		edit func() (*signature.Spec, error)
		want string
	}{
		{"append inputs", func() (*signature.Spec, error) { return spec.AppendInputs(two...) },
			`{text: string /* ≥ 1 character. What was said. */; score: number /* integer. How sure. */; any?: unknown} → ` +
				outputs},
		{"append outputs", func() (*signature.Spec, error) { return spec.AppendOutputs(score) },
			`{text: string /* ≥ 1 character. What was said. */} → {sent: string /* date. The day. */; email?: string; ` +
				`phone?: string; note?: string; score: number /* integer. How sure. */}`},
		{"prepend outputs", func() (*signature.Spec, error) { return spec.PrependOutputs(score) },
			`{text: string /* ≥ 1 character. What was said. */} → {score: number /* integer. How sure. */; sent: ` +
				`string /* date. The day. */; email?: string; phone?: string; note?: string}`},
		{"delete an input", func() (*signature.Spec, error) { return spec.Delete("text") }, `{} → ` + outputs},
		{"delete an output", func() (*signature.Spec, error) { return spec.Delete("note") },
			`{text: string /* ≥ 1 character. What was said. */} → {sent: string /* date. The day. */; email?: string; ` +
				`phone?: string}`},
		{"replace", func() (*signature.Spec, error) { return spec.WithField("note", score) },
			`{text: string /* ≥ 1 character. What was said. */} → {sent: string /* date. The day. */; email?: string; ` +
				`phone?: string; score: number /* integer. How sure. */}`},
		{"rename", func() (*signature.Spec, error) { return spec.WithField("sent", sent) },
			`{text: string /* ≥ 1 character. What was said. */} → {day?: string /* date. The day. */; email?: string; ` +
				`phone?: string; note?: string}`},
		{"describe", func() (*signature.Spec, error) { return spec.WithDescription("text", "What they want.") },
			`{text: string /* ≥ 1 character. What they want. */} → ` + outputs},
		{"do not describe", func() (*signature.Spec, error) { return spec.WithDescription("text", "") },
			`{text: string /* ≥ 1 character */} → ` + outputs},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			edited, err := test.edit()
			if err != nil {
				t.Fatal(err)
			}
			if got := declared(edited); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := declared(spec); got != before || edited.Instructions() != "Send it." {
				t.Errorf("the original changed to %s, the instructions to %q", got, edited.Instructions())
			}
		})
	}
}

func TestEditsKeepRulesAndFormats(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[order, parcel]("Send it.")).Spec()
	edited, err := spec.WithDescription("note", "For the driver.")
	if err != nil {
		t.Fatal(err)
	}
	for output, problems := range map[string]int{
		`{"sent": "2026-01-31", "email": "a@b.c", "phone": "1"}`: 1,
		`{"sent": "now", "phone": "1"}`:                          1,
		`{"sent": "2026-01-31", "phone": "1"}`:                   0,
	} {
		before, after := spec.Validate([]byte(output)), edited.Validate([]byte(output))
		if len(before) != problems || !slices.Equal(before, after) {
			t.Errorf("%s: got %v, before %v, want %d", output, after, before, problems)
		}
	}
}

func TestEditErrors(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[order, parcel]("Send it.")).Spec()
	text := signature.Field{Name: "text"}
	tests := []struct {
		name string
		edit func() (*signature.Spec, error)
		want string
	}{
		{"taken", func() (*signature.Spec, error) { return spec.AppendOutputs(text) }, `signature: output field "text": ` +
			`an input field has the same name; rename one`},
		{"reserved", func() (*signature.Spec, error) { return spec.AppendInputs(signature.Field{Name: "new"}) },
			`signature: input field "new": the name is reserved in JavaScript; choose another`},
		{"unknown", func() (*signature.Spec, error) { return spec.Delete("txt") }, `signature: unknown field ` +
			`"txt"; the fields are text, sent, email, phone, note`},
		{"describe unknown", func() (*signature.Spec, error) { return spec.WithDescription("txt", "x") },
			`signature: unknown field "txt"; the fields are text, sent, email, phone, note`},
		{"replace unknown", func() (*signature.Spec, error) { return spec.WithField("txt", text) },
			`signature: unknown field "txt"; the fields are text, sent, email, phone, note`},
		{"ruled", func() (*signature.Spec, error) { return spec.Delete("phone") }, `signature: field "phone": a rule ` +
			`about several fields refers to it, so it cannot be deleted; make a new signature`},
		{"rename ruled", func() (*signature.Spec, error) { return spec.WithField("phone", signature.Field{Name: "tel"}) },
			`signature: field "phone": a rule about several fields refers to it, so it cannot be renamed; make a new signature`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := test.edit()
			checkError(t, err, test.want)
		})
	}
	last, err := signature.NewSpec("Do it.", nil, []signature.Field{text})
	if err != nil {
		t.Fatal(err)
	}
	_, err = last.Delete("text")
	checkError(t, err, `signature: no output field; add one`)
}

func TestTypedErrors(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[order, parcel]("Send it.")).Spec()
	fails := func(_ any, err error) error { return err }
	type sent struct {
		Sent  string `json:"sent"`
		Email string `json:"email"`
	}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no spec", fails(signature.Typed[order, parcel](nil)), `signature: nil spec`},
		{"missing", fails(signature.Typed[none, parcel](spec)), `signature: input field "text": type ` +
			`signature_test.none does not have this field; add it, or use signature.Values`},
		{"surplus", fails(signature.Typed[struct {
			order
			More string
		}, parcel](spec)), `signature: input field "More": type struct { signature_test.order; More string } has this ` +
			`field, but the spec does not; remove it, or use signature.Values`},
		{"optional", fails(signature.Typed[order, sent](spec)), `signature: output field "email": the value may be missing, ` +
			`which type signature_test.sent cannot represent; make the field a pointer`},
		{"tag", fails(signature.Typed[order, misruled](spec)), `signature: output field "count": jsonschema tag: the ` +
			`rule maxLength does not apply to int; use one of minimum, exclusiveMinimum, maximum, exclusiveMaximum, ` +
			`multipleOf, enum, default, example, title, description, required, nullable`},
		{"not a struct", fails(signature.Typed[string, parcel](spec)), `signature: input type is string; use a struct ` +
			`with a field for each value`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkError(t, test.err, test.want)
		})
	}
	if _, err := signature.Typed[order, signature.Values](spec); err != nil {
		t.Error(err)
	}
	_, err := signature.New[signature.Values, parcel]("Send it.")
	checkError(t, err, `signature: input type is signature.Values, which has no fields of its own; use Parse, or `+
		`Typed with a Spec`)
}
