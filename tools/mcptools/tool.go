package mcptools

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// listedTool is a tool as the server describes it. Its schemas are not decoded.
type listedTool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  annotations

	execution, meta json.RawMessage
}

// UnmarshalJSON implements [json.Unmarshaler]. On error it decodes the name if it can.
func (t *listedTool) UnmarshalJSON(data []byte) error {
	return jsonscan.Object(data, jsonscan.Fields{
		"name": &t.Name, "title": &t.Title, "description": &t.Description,
		"inputSchema": &t.InputSchema, "outputSchema": &t.OutputSchema,
		"annotations": &t.Annotations, "execution": &t.execution, "_meta": &t.meta,
	})
}

// needsTask reports whether the tool can be called only as a task of protocol 2025-11-25.
func (t *listedTool) needsTask() bool {
	var support string
	_ = jsonscan.Object(t.execution, jsonscan.Fields{"taskSupport": &support}) // a malformed value counts as absent
	return support == "required"
}

// appOnly reports whether the server offers the tool only to its own user interface (MCP Apps).
func (t *listedTool) appOnly() (only bool) {
	var ui, visibility json.RawMessage
	_ = jsonscan.Object(t.meta, jsonscan.Fields{"ui": &ui}) // a malformed value counts as absent
	_ = jsonscan.Object(ui, jsonscan.Fields{"visibility": &visibility})
	for scope := range jsonscan.Elements(visibility) {
		if only = string(scope) == `"app"`; !only {
			return false
		}
	}
	return only
}

type annotations struct {
	Title           string
	ReadOnlyHint    bool
	IdempotentHint  bool
	DestructiveHint *bool // nil means true
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *annotations) UnmarshalJSON(data []byte) error {
	return jsonscan.Object(data, jsonscan.Fields{
		"title": &a.Title, "readOnlyHint": &a.ReadOnlyHint, "idempotentHint": &a.IdempotentHint,
		"destructiveHint": &a.DestructiveHint,
	})
}

// class returns the class that the server claims for its tool.
func (a annotations) class() tools.Class {
	switch {
	case a.ReadOnlyHint:
		return tools.Read
	case a.IdempotentHint:
		return tools.Idempotent
	}
	return tools.Unclassified
}

// destructive reports whether the server says that the tool is destructive, which is the default.
func (a annotations) destructive() bool {
	return !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
}

func (t *listedTool) description() string {
	return cmp.Or(t.Description, t.Title, t.Annotations.Title)
}

// fingerprint returns a hash of everything that a model or a policy relies on. It ignores the order
// of properties, which some transports lose.
func (t *listedTool) fingerprint() string {
	all := []any{
		t.Name, t.Title, t.Description, canonical(t.InputSchema), canonical(t.OutputSchema),
		t.Annotations.Title, t.Annotations.ReadOnlyHint, t.Annotations.IdempotentHint, t.Annotations.DestructiveHint,
	}
	text, _ := json.Marshal(all) // cannot fail: the values were JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// canonical returns a schema as a value whose encoding does not depend on the order of properties. A schema that cannot
// be decoded is returned as a string.
func canonical(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil // there is no schema
	}
	if !message.TooManyValues(raw) {
		if doc, err := jsonvalue.Decode(raw, message.MaxNesting, false); err == nil {
			return doc.Value
		}
	}
	return string(raw)
}

// bind makes a listed tool callable.
func (s *server) bind(t *listedTool) *tools.Tool {
	// Clone the schemas, which would otherwise keep the whole page in memory.
	input := bytes.Clone(jsonscan.Present(t.InputSchema))
	output := bytes.Clone(jsonscan.Present(t.OutputSchema))
	var hints tools.Hints
	if slices.Contains(s.o.Trust, s.name) {
		hints = tools.Hints{Class: t.Annotations.class(), Destructive: t.Annotations.destructive()}
	}
	return &tools.Tool{
		Hints:        hints,
		Claimed:      t.Annotations.class(),
		Namespace:    s.name,
		Name:         s.o.Secrets.Text(t.Name),
		Description:  t.Description,
		InputSchema:  input,
		OutputSchema: output,
		Handler:      newRemote(s, t.Name, output).call,
	}
}
