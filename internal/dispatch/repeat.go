package dispatch

import (
	"encoding/json"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
)

// DecodeRepeat decodes a call's second argument. It returns an error if the argument has a property that is not a field
// of [tools.Repeat].
func DecodeRepeat(raw json.RawMessage) (*tools.Repeat, error) {
	var r struct {
		Same     string
		Again    entryIDs
		Distinct entryIDs
		Fresh    bool
	}
	if err := jsonvalue.Strictly(raw, &r); err != nil {
		return nil, err
	}
	return &tools.Repeat{Same: r.Same, Again: r.Again, Distinct: r.Distinct, Fresh: r.Fresh}, nil
}

// entryIDs are the IDs of journal entries. Their JSON is a string or an array.
type entryIDs []string

// UnmarshalJSON implements [json.Unmarshaler].
func (e *entryIDs) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*e = entryIDs{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(e))
}
