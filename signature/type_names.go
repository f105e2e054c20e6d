package signature

import (
	"encoding/json"
)

// Families of types, which determine their rules.
const (
	texts    = "texts"
	numbers  = "numbers"
	lists    = "lists"
	dicts    = "dicts"
	anything = "" // only the rules that apply to all types
)

func keywords(family, text string) typ {
	t := typ{family: family}
	if err := json.Unmarshal([]byte(text), &t.keywords); err != nil {
		panic(err) // unreachable: the text is a constant
	}
	return t
}

// kindType returns the type of fields of a kind. The text is its JSON Schema.
func kindType(text string, kind Kind) typ {
	raw, _ := json.Marshal(mark(text, kind)) // a schema always encodes
	return keywords(anything, string(raw))
}

// named are the types that need no brackets, by name.
var named = map[string]typ{
	"str":      keywords(texts, `{"type": "string"}`),
	"int":      keywords(numbers, `{"type": "integer"}`),
	"float":    keywords(numbers, `{"type": "number"}`),
	"bool":     keywords(anything, `{"type": "boolean"}`),
	"None":     keywords(anything, nullSchema),
	"any":      keywords(anything, `{}`),
	"bytes":    keywords(texts, `{"type": "string", "contentEncoding": "base64"}`),
	"date":     keywords(anything, `{"type": "string", "format": "date"}`),
	"datetime": keywords(anything, `{"type": "string", "format": "date-time"}`),
	"time":     keywords(anything, `{"type": "string", "format": "time"}`),
	"list":     keywords(lists, `{"type": "array"}`),
	"dict":     keywords(dicts, `{"type": "object"}`),
	"Image":    kindType(imageSchema, KindImage),
	"File":     kindType(fileSchema, KindFile),
	"History":  kindType(historySchema, KindHistory),
}

const nullSchema = `{"type":"null"}`

// generic are the types that require brackets.
var generic = []string{"Literal", "Optional", "Union", "set", "tuple"}

// synonyms maps other type names to their names in [Parse]'s notation.
var synonyms = map[string]string{
	"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None",
	"array": "list", "object": "dict",
	"Any": "any", "List": "list", "Dict": "dict", "Set": "set", "Tuple": "tuple",
}

// instead maps type names in other languages to their equivalents in [Parse]'s notation.
var instead = map[string]string{
	"float32": "float", "float64": "float", "double": "float", "decimal": "float", "Decimal": "float",
	"int8": "int", "int16": "int", "int32": "int", "int64": "int", "long": "int",
	"uint": "int(ge=0)", "uint8": "int(ge=0)", "uint16": "int(ge=0)", "uint32": "int(ge=0)", "uint64": "int(ge=0)",
	"text": "str", "char": "str", "rune": "str", "byte": "bytes", "map": "dict[str, …]", "Map": "dict[str, …]",
	"Record": "dict[str, …]",
	"slice":  "list", "Array": "list", "frozenset": "set", "unknown": "any", "interface": "any", "json": "any",
	"enum": "Literal[…]", "Enum": "Literal[…]", "struct": "{name: type}", "nil": "None", "undefined": "None",
	"timestamp": "datetime", "Time": "datetime", "Date": "date", "timedelta": aTime, "duration": aTime,
}

const aTime = `float(desc="seconds"), or schema({"type": "integer", "format": "nanoseconds"}), which is a time.Duration`

// modules are the Python modules whose name may precede a type's name.
var modules = []string{"dspy", "typing", "datetime"}

// examples show how types with brackets are written.
var examples = map[string]string{
	"Literal": `Literal["a", "b"]`, "Optional": "Optional[str]", "Union": "Union[str, int]",
	"list": "list[str]", "set": "set[str]", "tuple": "tuple[str, int]", "dict": "dict[str, float]",
}
