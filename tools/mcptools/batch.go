package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch is how many messages one batch may have. What an element costs is far
// more than what a server pays for it.
const maxBatch = 64

// isBatch reports whether JSON may be a batch of messages, which protocol
// versions before 2025-06-18 allow.
func isBatch(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) }

// decodeBatch returns the messages of a batch; elements that are none are left
// out. It reads no further than it may.
func decodeBatch(data []byte) ([]jsonrpc.Message, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var list []jsonrpc.Message
	for n := 0; d.More(); n++ {
		if n == maxBatch {
			return nil, fmt.Errorf("the batch has more than %d messages", maxBatch)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		if msg, err := jsonrpc.DecodeMessage(raw); err == nil {
			list = append(list, msg)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the batch")
	}
	return list, nil
}
