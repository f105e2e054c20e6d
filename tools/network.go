package tools

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// brokeOff reports whether a connection was lost before the answer or in its midst,
// so that the other side may have done what it was asked. It knows the errors of
// packages net and net/http, which handlers return as they are.
func brokeOff(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "read" || op.Op == "write") {
		return true
	}
	if e, ok := errors.AsType[*url.Error](err); ok && (errors.Is(e, io.EOF) || endedByHTTP(e.Err)) {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EPIPE)
}

// endedByHTTP knows the errors of lost connections that have no type of their own.
func endedByHTTP(err error) bool {
	for _, beginning := range []string{"http2: ", "stream error: ", "http: server closed"} {
		if err != nil && strings.HasPrefix(err.Error(), beginning) {
			return true
		}
	}
	return false
}
