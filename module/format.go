package module

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// writeSystem says what the fields are, how to answer, what to know and what to
// do.
func writeSystem(spec *signature.Spec, form, briefing string) string {
	var b strings.Builder
	if len(spec.Inputs()) > 0 {
		b.WriteString("Your input fields are:\n")
		listInputs(&b, spec)
	}
	b.WriteString("Your output fields are:\n")
	listFields(&b, spec.Outputs())
	b.WriteString("\n" + form)
	if timed(spec.OutputSchema().Raw()) {
		b.WriteString("\n" + unitRule + "\n")
	}
	if briefing != "" {
		b.WriteString("\n" + strings.Trim(briefing, "\n") + "\n")
	}
	if objective := strings.TrimSpace(spec.Instructions()); objective != "" {
		b.WriteString("\nYour objective:\n" + objective + "\n")
	}
	return b.String()
}

// unitRule is what is read besides the number that a [time.Duration] is declared as. It is
// not said where programs give the value: theirs is a number.
const unitRule = `A field that is an integer of nanoseconds may be text with its unit instead, such as "90m".`

// timed reports whether there is such a field in what a schema is of.
func timed(of json.RawMessage) bool {
	return bytes.Contains(of, []byte(`"format":"`+schema.Nanoseconds+`"`))
}

// listFields writes one line for each field: what it is called, what it may be,
// and what it means.
func listFields(b *strings.Builder, fields []signature.Field) {
	for i, f := range fields {
		listField(b, i+1, f, declare(f))
	}
}

// listInputs does so with the inputs of a question. Pictures and files are shown
// beside it, and a history before.
func listInputs(b *strings.Builder, spec *signature.Spec) {
	n := 0
	for _, f := range spec.Inputs() {
		if f.Kind() == signature.KindHistory {
			continue
		}
		if n++; f.Kind() == signature.KindValue {
			listField(b, n, f, declare(f))
		} else {
			listField(b, n, f, spec.Declare(f.Name))
		}
	}
}

func listField(b *strings.Builder, n int, f signature.Field, declaration string) {
	fmt.Fprintf(b, "%d. %s", n, declaration)
	if f.Description != "" && !strings.Contains(declaration, f.Description) {
		b.WriteString(" // " + f.Description)
	}
	b.WriteByte('\n')
}

// declare writes a field as a member of a type, where its constraints are shown:
//
//	score?: number /* 0–1 */
func declare(f signature.Field) string {
	alone, err := signature.NewSpec("", nil, []signature.Field{{Name: f.Name, Schema: f.Schema, Required: f.Required}})
	if err != nil { // a schema that does not stand alone
		return f.Name + ": " + f.Schema.TypeScript(nil)
	}
	return strings.TrimSuffix(strings.TrimPrefix(alone.OutputTypeScript(), "{"), "}")
}

// sizeOf is about how long the values are when they are written.
func sizeOf(values signature.Values) int {
	n := 0
	for _, v := range values {
		n += 24 + len(v.Name) + len(v.JSON)
	}
	return n
}
