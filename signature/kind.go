package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/schema"
)

// Kind determines how a module presents a field to a model.
type Kind string

const (
	// KindValue is any JSON value. A module writes it into the question's text.
	KindValue Kind = ""
	// KindImage is an [Image] or a list of images; see [Images].
	KindImage Kind = "image"
	// KindFile is a [File] or a list of files; see [Files].
	KindFile Kind = "file"
	// KindHistory is a [History]; see [Turns].
	KindHistory Kind = "history"
)

// kindKeyword is the keyword that marks the schemas of images, files and histories.
const kindKeyword = "x-writ"

// Kind returns the field's kind according to its schema. An optional image, or a list of images, is KindImage, too.
func (f Field) Kind() Kind {
	if f.Schema == nil || f.Schema.AnyText() {
		return KindValue
	}
	if !bytes.Contains(f.Schema.Raw(), []byte(`"`+kindKeyword+`"`)) {
		return KindValue
	}
	return kindOf(f.Schema.Raw())
}

// kindOf returns the kind of the value that a schema describes. The value may be nullable,
// or a list of values of that kind.
func kindOf(raw json.RawMessage) Kind {
	var s marked
	if json.Unmarshal(raw, &s) != nil {
		return KindValue // the schema is a boolean
	}
	if k := s.kind(); k != KindValue {
		return k
	}
	if i := slices.IndexFunc(s.AnyOf, marked.null); len(s.AnyOf) == 2 && i >= 0 {
		return s.AnyOf[1-i].kind()
	}
	return KindValue
}

// marked has the keywords of a schema that determine its kind.
type marked struct {
	Type  any      `json:"type"`
	Kind  Kind     `json:"x-writ"`
	Items *marked  `json:"items"`
	AnyOf []marked `json:"anyOf"`
}

// UnmarshalJSON implements [json.Unmarshaler]. It ignores boolean schemas.
func (m *marked) UnmarshalJSON(raw []byte) error {
	type plain marked
	if raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(m))
}

func (m marked) null() bool { return m.Type == "null" }

func (m marked) kind() Kind {
	if m.Kind == KindValue && m.Items != nil && m.Items.Kind != KindHistory {
		return m.Items.Kind
	}
	return m.Kind
}

// checkKind returns an error for an image, file or history that a module cannot present to
// a model, because it is an output or is within another value.
func checkKind(f Field, output bool) error {
	if f.Schema == nil {
		return nil
	}
	switch n := bytes.Count(f.Schema.Raw(), []byte(`"`+kindKeyword+`"`)); {
	case n == 0:
		return nil
	case output:
		return errors.New("images, files and histories can only be inputs; use a type that a model can write")
	case n > 1 || f.Kind() == KindValue:
		return errors.New("an image, file or history can only be an input of its own, which may be optional and, " +
			"except for a history, a list; make it a separate input")
	case !slices.Contains([]Kind{KindImage, KindFile, KindHistory}, f.Kind()):
		return fmt.Errorf("unknown kind %q; use %q, %q or %q", f.Kind(), KindImage, KindFile, KindHistory)
	default:
		return nil
	}
}

// checkSpecial checks what schemas cannot express: that images and files have content, and that the
// turns of a history fit the signature.
func (s *Spec) checkSpecial(inputs Values) []schema.Finding {
	var findings []schema.Finding
	for _, v := range inputs {
		if s.special[v.Name] == KindHistory {
			findings = append(findings, s.checkHistory(v)...)
		} else {
			findings = append(findings, s.checkMedia(v)...)
		}
	}
	return findings
}

func (s *Spec) checkMedia(v Value) []schema.Finding {
	var err error
	switch s.special[v.Name] {
	case KindImage:
		_, err = Images(v.JSON)
	case KindFile:
		_, err = Files(v.JSON)
	}
	if err != nil {
		return []schema.Finding{{Path: v.Name, Message: "cannot be used: " + err.Error()}}
	}
	return nil
}

var kindNames = map[Kind]string{KindImage: "Image", KindFile: "File", KindHistory: "History"}

// mark parses a schema and marks it with a kind.
func mark(text string, kind Kind) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		panic(err) // unreachable: the text is a constant
	}
	s.Extras = map[string]any{kindKeyword: kind}
	return s
}
