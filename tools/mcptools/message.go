package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/tools/mcptools/internal/jsonscan"
)

const (
	// maxBatch is how many messages one batch may have.
	maxBatch = 64

	// maxValues is how many JSON values one message may have. Reading stops there,
	// whatever the size of the message.
	maxValues = 1 << 20

	// maxDecoded is how many JSON values of one message are ever decoded at once, by the
	// SDK or to be compared with a schema. Each takes up to 200 bytes. All else stays
	// text.
	maxDecoded = 1 << 18

	// maxNesting is how deep a message may be nested, which is as deep as the SDK reads.
	maxNesting = 1000
)

// messageScan measures a message while it is read.
func messageScan() jsonscan.Scanner {
	return jsonscan.Scanner{Limits: jsonscan.Limits{Values: maxValues, Elements: maxBatch, Depth: maxNesting}}
}

// excess words the error of a scan. Of any other error it is nil.
func excess(err error) error {
	switch {
	case errors.Is(err, jsonscan.ErrValues):
		return &sizeError{limit: maxValues, of: "JSON values"}
	case errors.Is(err, jsonscan.ErrElements):
		return &formError{fmt.Errorf("the batch has more than %d messages", maxBatch)}
	case errors.Is(err, jsonscan.ErrDepth):
		return &formError{fmt.Errorf("it is nested more than %d levels deep", maxNesting)}
	}
	return nil
}

// checkMessage returns what is wrong with a message, or a batch, before it is decoded.
func checkMessage(data []byte) error {
	scan := messageScan()
	if _, err := scan.Write(data); err != nil {
		return excess(err)
	}
	if !json.Valid(data) {
		return &formError{errors.New("it is not JSON")}
	}
	return nil
}

// decodeMessage is like [jsonrpc.DecodeMessage], but the parameters or the result of the
// message stay a part of the data. Nothing that large is copied.
func decodeMessage(data []byte) (jsonrpc.Message, error) {
	if err := checkMessage(data); err != nil {
		return nil, err
	}
	return messageOf(data)
}

// messageOf decodes a message that has been checked.
func messageOf(data []byte) (jsonrpc.Message, error) {
	var version string
	var method *string
	var id, params, result json.RawMessage
	var failure *jsonrpc.Error
	err := decodeExactly(data, field{"jsonrpc", &version}, field{"id", &id}, field{"method", &method},
		field{"params", &params}, field{"result", &result}, field{"error", &failure})
	if err != nil {
		return nil, &formError{err}
	}
	if version != "2.0" {
		return nil, &formError{errors.New("it is not JSON-RPC 2.0")}
	}
	named, err := messageID(id)
	switch {
	case err != nil:
		return nil, &formError{err}
	case method != nil:
		return &jsonrpc.Request{ID: named, Method: *method, Params: params}, nil
	case !named.IsValid():
		return nil, &formError{errors.New("it has neither a method nor an id")}
	case failure != nil:
		return &jsonrpc.Response{ID: named, Error: failure}, nil
	}
	return &jsonrpc.Response{ID: named, Result: result}, nil
}

// messageID decodes the id of a message: a string, a number, or none.
func messageID(raw json.RawMessage) (jsonrpc.ID, error) {
	if raw == nil {
		return jsonrpc.ID{}, nil
	}
	if raw[0] == '{' || raw[0] == '[' {
		return jsonrpc.ID{}, fmt.Errorf("the id is an %s", jsonType(raw))
	}
	var id any
	if err := json.Unmarshal(raw, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

// isBatch reports whether JSON may be a batch of messages, which protocol
// versions before 2025-06-18 allow.
func isBatch(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) }

// decodeBatch returns the messages of a batch. Elements that are not messages are left
// out.
func decodeBatch(data []byte) ([]jsonrpc.Message, error) {
	if err := checkMessage(data); err != nil {
		return nil, err
	}
	var list []jsonrpc.Message
	for element := range jsonscan.Elements(data) {
		if msg, err := messageOf(element); err == nil {
			list = append(list, msg)
		}
	}
	return list, nil
}

// lighten keeps from the SDK what it would decode into too many values.
func lighten(msg jsonrpc.Message) error {
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if tooManyToDecode(msg.Params) {
			msg.Params = nil // which the SDK refuses where it needs them
		}
	case *jsonrpc.Response:
		if tooManyToDecode(msg.Result) {
			err := error(&sizeError{limit: maxDecoded, of: "JSON values"})
			msg.Result, msg.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
			return err
		}
	}
	return nil
}

func tooManyToDecode(data []byte) bool {
	return jsonscan.Check(data, jsonscan.Limits{Values: maxDecoded}) != nil
}
