package journal

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MarshalJSON writes the entry with Err's message as "error".
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	var text string
	if e.Err != nil {
		text = fmt.Sprint(e.Err) // fmt recovers from a panic in the Error method
	}
	return json.Marshal(struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain(e), text})
}

// UnmarshalJSON reads the JSON of MarshalJSON. Only Err's message is restored.
func (e *Entry) UnmarshalJSON(raw []byte) error {
	type plain Entry
	var read struct {
		plain
		Error string `json:"error"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*e = Entry(read.plain)
	if read.Error != "" {
		e.Err = errors.New(read.Error)
	}
	return nil
}
