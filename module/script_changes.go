package module

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// changedSignature returns the differences between the signature that a program was written for and the current one.
// Descriptions do not matter.
func (s *Script) changedSignature(now Script) (changes []string, err error) {
	var fields [2]state.Fields
	for i, text := range []string{s.Signature, now.Signature} {
		spec, err := signature.Parse(text, "")
		if err != nil {
			return nil, fmt.Errorf("module: the signature of the script: %w", err)
		}
		if fields[i], err = state.FieldsOf(spec.Spec(), nil); err != nil {
			return nil, fmt.Errorf("module: the signature of the script: %w", err)
		}
	}
	if fields[0].Hash() != fields[1].Hash() {
		changes = append(changes, "the signature has changed since the program was written: "+
			fields[1].Differ(fields[0].Hashes()))
	}
	if !slices.Equal(strings.Fields(s.Instructions), strings.Fields(now.Instructions)) {
		changes = append(changes, "the instructions have changed since the program was written")
	}
	return changes, nil
}

// changedTools compares the tools that a program was written for with the current tools that it mentions, and returns
// the differences. Since models are shown the differences, they contain nothing from the script's file except names.
func (s *Script) changedTools(mentioned []string, set *tools.Set) (changes []string) {
	all, known := set.Bindings(), map[string]bool{}
	for _, was := range s.Tools {
		schemas, path, err := toolIn(was)
		if err != nil {
			changes = append(changes, "a tool of the script cannot be read: "+err.Error())
			continue
		}
		known[path] = true
		at := slices.IndexFunc(all, func(b *tools.Binding) bool { return b.Path() == path })
		switch {
		case at < 0:
			changes = append(changes, fmt.Sprintf("the tool %s, which the program calls, no longer exists", path))
		case !strings.HasPrefix(declared(all[at]), schemas+" "):
			changes = append(changes, fmt.Sprintf("the tool %s has changed since the program was written", path))
		}
	}
	for _, t := range mentioned {
		if _, path, _ := toolIn(t); !known[path] {
			changes = append(changes, fmt.Sprintf("the program mentions the tool %s, but was not written for it", path))
		}
	}
	return changes
}

// mentioned returns the tools whose names occur in the code, even in a comment.
func mentioned(code string, set *tools.Set) (list []string) {
	names := namesIn(code)
	inCode := func(name string) bool { return strings.Contains(code, name) }
	for _, b := range set.Bindings() {
		isNamed := names[b.Names[0]] || slices.ContainsFunc(b.Names[1:], inCode) // the other names are not identifiers
		if isNamed && (b.Object == "" || names[b.Object]) {
			list = append(list, declared(b))
		}
	}
	return list
}

// namesIn returns the identifiers and other words in the code.
func namesIn(code string) map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsFuncSeq(code, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '_' && r != '$'
	}) {
		names[name] = true
	}
	return names
}

// declared returns a tool's entry in Script.Tools.
func declared(b *tools.Binding) string {
	const limit = 1000 // bytes in each part of a declaration
	text := declare.Signature(b, limit)
	if result, err := schema.Compile(b.OutputSchema); err == nil && b.OutputSchema != nil {
		text += ": " + shorten(result.TypeScript(nil), limit)
	}
	sum := sha256.New()
	for _, raw := range []json.RawMessage{b.InputSchema, b.OutputSchema} {
		sum.Write(structure(raw))
		sum.Write([]byte{'\n'})
	}
	oneLine := strings.Join(strings.Fields(lineBreaks.Replace(text)), " ")
	return hex.EncodeToString(sum.Sum(nil)[:4]) + " " + oneLine
}

// structure returns a schema without descriptions and with sorted keywords. If the schema cannot be decoded, structure
// returns it unchanged.
func structure(raw json.RawMessage) []byte {
	var value any
	if schema.Unmarshal(raw, &value) != nil {
		return raw
	}
	text, err := json.Marshal(withoutDescriptions(value))
	if err != nil {
		return raw
	}
	return text
}

// withoutDescriptions removes descriptions from a schema and from the schemas within it.
func withoutDescriptions(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = withoutDescriptions(v[i])
		}
	case map[string]any:
		for _, keyword := range []string{"description", "title", "examples", "$comment"} {
			delete(v, keyword)
		}
		for keyword, inner := range v {
			switch keyword {
			case "const", "default", "enum", "required": // values, not schemas
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				named, _ := inner.(map[string]any)
				for name := range named {
					named[name] = withoutDescriptions(named[name])
				}
			default:
				v[keyword] = withoutDescriptions(inner)
			}
		}
	}
	return value
}
