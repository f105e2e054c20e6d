// Package message decodes an MCP server's JSON-RPC messages within limits, and keeps track of the requests in both
// directions.
package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
)

const (
	// MaxValues is how many JSON values one message may have. Reading stops at this number,
	// whatever the size of the message.
	MaxValues = 1 << 20

	// MaxDecoded is how many JSON values in one message are decoded at once, by the SDK or for validation. A value
	// takes up to 200 bytes. The rest of a message stays text.
	MaxDecoded = 1 << 18

	// MaxNesting is how deep a message may be nested. It is the SDK's limit.
	MaxNesting = 1000
)

// SizeError reports a response that is larger than allowed.
type SizeError struct {
	Size  int // zero if reading stopped at the limit
	Limit int
	Unit  string // empty means bytes
}

func (e *SizeError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("the response has more than %d %s, which is the limit", e.Limit, cmp.Or(e.Unit, "bytes"))
	}
	return fmt.Sprintf("the response has %d bytes; the limit is %d", e.Size, e.Limit)
}

// FormatError reports a response that cannot be decoded.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return fmt.Sprintf("cannot decode the response: %v", e.Err) }
func (e *FormatError) Unwrap() error { return e.Err }

func newScanner() jsonscan.Scanner {
	return jsonscan.Scanner{Limits: jsonscan.Limits{Values: MaxValues, Depth: MaxNesting}}
}

// scanError converts the errors [jsonscan.ErrValues] and [jsonscan.ErrDepth]. It returns nil for other errors.
func scanError(err error) error {
	switch {
	case errors.Is(err, jsonscan.ErrValues):
		return &SizeError{Limit: MaxValues, Unit: "JSON values"}
	case errors.Is(err, jsonscan.ErrDepth):
		return &FormatError{fmt.Errorf("it is nested more than %d levels deep", MaxNesting)}
	}
	return nil
}

// check checks a message before it is decoded.
func check(data []byte) error {
	scan := newScanner()
	if _, err := scan.Write(data); err != nil {
		return scanError(err)
	}
	if !json.Valid(data) {
		return &FormatError{errors.New("it is not JSON")}
	}
	return nil
}

// Decode is like [jsonrpc.DecodeMessage], but within this package's limits. The message's parameters and result share
// memory with data.
func Decode(data []byte) (jsonrpc.Message, error) {
	if err := check(data); err != nil {
		return nil, err
	}
	var version string
	var method *string
	var rawID, params, result json.RawMessage
	var failure *jsonrpc.Error
	err := jsonscan.Object(data, jsonscan.Fields{
		"jsonrpc": &version, "id": &rawID, "method": &method, "params": &params, "result": &result,
		"error": &failure,
	})
	if err != nil {
		return nil, &FormatError{err}
	}
	if version != "2.0" {
		return nil, &FormatError{errors.New("it is not JSON-RPC 2.0")}
	}
	id, err := decodeID(rawID)
	switch {
	case err != nil:
		return nil, &FormatError{err}
	case method != nil:
		return &jsonrpc.Request{ID: id, Method: *method, Params: params}, nil
	case !id.IsValid():
		return nil, &FormatError{errors.New("it has neither a method nor an ID")}
	case failure != nil:
		return &jsonrpc.Response{ID: id, Error: failure}, nil
	}
	return &jsonrpc.Response{ID: id, Result: result}, nil
}

// decodeID decodes the ID of a message: a string, a number or nothing.
func decodeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if raw == nil {
		return jsonrpc.ID{}, nil
	}
	if raw[0] == '{' || raw[0] == '[' {
		return jsonrpc.ID{}, fmt.Errorf("the ID is an %s", jsonvalue.Type(raw))
	}
	var id any
	if err := json.Unmarshal(raw, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

// TooManyValues reports whether the data has more than [MaxDecoded] JSON values.
func TooManyValues(data []byte) bool {
	return jsonscan.Check(data, jsonscan.Limits{Values: MaxDecoded}) != nil
}
