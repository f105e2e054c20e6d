package schema

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/display"
)

// limit returns the message for an error about a value's range, form or size.
func limit(k jsonschema.ErrorKind, given string) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want) + ", not " + given
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want) + ", not " + given
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want) + ", not " + given
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want) + ", not " + given
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want) + ", not " + given
	case *kind.Pattern:
		return "must match /" + k.Want + "/, not " + given
	case *kind.Format:
		return "must be " + formatName(k.Want) + ", not " + given
	default:
		return size(k)
	}
}

func size(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "must have at least " + plural(k.Want, "character") + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxLength:
		return "must have at most " + plural(k.Want, "character") + ", not " + strconv.Itoa(k.Got)
	case *kind.MinItems:
		return "must have at least " + plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxItems:
		return "must have at most " + plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got)
	case *kind.MinProperties:
		return "must have at least " + propertyCount(k.Want) + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxProperties:
		return "must have at most " + propertyCount(k.Want) + ", not " + strconv.Itoa(k.Got)
	default:
		return content(k)
	}
}

func content(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.AdditionalItems:
		return "must have " + plural(k.Count, "fewer item")
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item: [%d] and [%d] are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "must have an item that fits the schema under \"contains\""
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %d items that fit the schema under \"contains\", not %d",
			k.Want, len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %d items that fit the schema under \"contains\", not %d",
			k.Want, len(k.Got))
	case *kind.OneOf:
		return fmt.Sprintf("must match exactly one alternative, but matches numbers %d and %d",
			k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.Not:
		return "must not fit the schema under \"not\""
	default:
		return "does not fit its schema"
	}
}

func articles(types []string) []string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			words[i] = t
		case "integer", "array", "object":
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	return words
}

func plural(n int, unit string) string { return display.Plural(n, unit) }

func propertyCount(n int) string {
	if n == 1 {
		return "1 property"
	}
	return strconv.Itoa(n) + " properties"
}

// decimal formats integers exactly, and other numbers with as few digits as possible.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func formatName(format string) string {
	switch format {
	case "date-time":
		return "a date-time such as 2026-01-31T15:04:05Z"
	case "date":
		return "a date such as 2026-01-31"
	case "time":
		return "a time such as 15:04:05Z"
	default:
		return "of format " + format
	}
}
