package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// chatFormat changes when records of chats are written in another way.
const chatFormat = "writ chat 1"

// chatRecord is a conversation as JSON.
type chatRecord struct {
	Format    string            `json:"format"`
	Signature string            `json:"signature"`
	Fields    map[string]string `json:"fields"` // a hash of each
	LeftOut   int               `json:"left_out,omitempty"`
	Turns     []turn            `json:"turns"`
	Session   string            `json:"session,omitempty"` // the record of the session
}

var errNoChat = errors.New("module: the Chat is nil or was not made by NewChat, or cannot run; Run says why")

// Record returns the conversation as JSON, after the turn under way: the turns in short
// form, and the record of the session, which [sandbox.Session.AppendRecord] describes.
// Anyone who can read it can read what was said and what tools answered.
func (c *Chat[In, Out]) Record(ctx context.Context) ([]byte, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	r := chatRecord{
		Format: chatFormat, Signature: fields.hash(), Fields: fields.hashes(), LeftOut: c.talk.leftOut, Turns: c.talk.turns,
	}
	session, err := c.talk.book.record()
	if err != nil {
		return nil, err
	}
	r.Session = string(session)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the record of a session has a sum of its bytes
	err = e.Encode(r)
	return b.Bytes(), err
}

// Restore replaces the conversation by one that [Chat.Record] returned, of a Chat with
// the same signature, in this process or another one.
//
// If the record is damaged or is not one, the conversation stays as it was. If the turns
// can be read but the session cannot be restored, as after an update of Writ, the error
// wraps [sandbox.ErrSessionLost]; then the conversation goes on without the variables,
// and the model learns that they are gone.
func (c *Chat[In, Out]) Restore(ctx context.Context, record []byte) error {
	leave, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if len(bytes.TrimSpace(record)) == 0 {
		return errors.New("module: the record of a chat is empty")
	}
	fields, err := c.fields()
	if err != nil {
		return err
	}
	var r chatRecord
	d := json.NewDecoder(bytes.NewReader(record))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("module: the record of a chat: %w", err)
	}
	if _, err := d.Token(); err != io.EOF || r.Format != chatFormat || r.LeftOut < 0 {
		return fmt.Errorf("module: the record of a chat has the format %.50q, or is damaged; this is %q", r.Format, chatFormat)
	}
	if fields.hash() != r.Signature {
		return fmt.Errorf("module: the chat was recorded with another signature: %s", fields.differ(r.Fields))
	}
	for i, t := range r.Turns {
		for _, v := range t.Inputs {
			if _, known := c.coder.signature.Spec().Field(v.Name); !known {
				return fmt.Errorf("module: the record of a chat: turn %d has the input %.50q, which the signature lacks", i+1, v.Name)
			}
		}
	}
	c.talk.turns, c.talk.leftOut = r.Turns, r.LeftOut
	return c.talk.book.restore([]byte(r.Session))
}

// fields are those of the signature.
func (c *Chat[In, Out]) fields() (savedFields, error) {
	return (&Predictor{Spec: c.coder.signature.Spec()}).fields()
}

// enter waits for the turn before; the caller calls leave.
func (c *Chat[In, Out]) enter(ctx context.Context) (leave func(), err error) {
	switch {
	case c == nil || c.coder.name == "" || c.coder.err != nil:
		return nil, errNoChat
	case ctx == nil:
		return nil, errNoContext
	}
	return c.talk.enter(ctx)
}
