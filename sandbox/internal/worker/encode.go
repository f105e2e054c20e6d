package worker

import (
	"strconv"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// appender is a body that writes itself: one of those sent for each tool call,
// where encoding/json would take a microsecond.
type appender interface {
	appendTo(dst []byte) ([]byte, error)
}

// callBody is an engine.Call. What it holds comes from the engine's encoder, and
// isn't read again: the host trusts neither.
type callBody engine.Call

func (c *callBody) appendTo(dst []byte) ([]byte, error) { //nolint:unparam // a reply can fail
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, int64(c.ID), 10)
	dst = append(dst, `,"tool":`...)
	dst = strconv.AppendInt(dst, int64(c.Tool), 10)
	dst = append(dst, `,"args":`...)
	if c.Args == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, c.Args...)
	if len(c.More) > 0 {
		dst = append(append(dst, `,"more":`...), c.More...)
	}
	if c.Line != 0 {
		dst = strconv.AppendInt(append(dst, `,"line":`...), int64(c.Line), 10)
	}
	if c.Column != 0 {
		dst = strconv.AppendInt(append(dst, `,"column":`...), int64(c.Column), 10)
	}
	return append(dst, '}'), nil
}

// appendTo writes a reply. The values in it come from a tool, so they may be
// anything.
func (r *reply) appendTo(dst []byte) ([]byte, error) {
	s := scanner{trusting: true}
	s.out = strconv.AppendInt(append(dst, `{"id":`...), int64(r.ID), 10)
	if len(r.Value) > 0 {
		if err := s.append(`,"value":`, r.Value); err != nil {
			return dst, err
		}
	}
	if e := r.Error; e != nil {
		s.out = appendQuoted(append(s.out, `,"error":{"tool":`...), e.Tool)
		s.out = appendQuoted(append(s.out, `,"kind":`...), e.Kind)
		s.out = appendQuoted(append(s.out, `,"message":`...), e.Message)
		if len(e.Data) > 0 {
			if err := s.append(`,"data":`, e.Data); err != nil {
				return dst, err
			}
		}
		s.out = append(s.out, '}')
	}
	return append(s.out, '}'), nil
}

// append writes a key and a value that is JSON, or says that it is none.
func (s *scanner) append(key string, value []byte) error {
	s.out = append(s.out, key...)
	s.in, s.at = value, 0
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}
