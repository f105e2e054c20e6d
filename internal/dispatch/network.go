package dispatch

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// lostConnection reports whether err is an error of packages net or net/http after which the server may have performed
// the request, because the connection was lost before the response ended.
func lostConnection(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "read" || op.Op == "write") {
		return true
	}
	if e, ok := errors.AsType[*url.Error](err); ok && (errors.Is(e, io.EOF) || endedByHTTP(e.Err)) {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EPIPE)
}

// endedByHTTP recognizes by their text the net/http errors about a lost connection that have no exported type.
func endedByHTTP(err error) bool {
	for _, beginning := range []string{"http2: ", "stream error: ", "http: server closed"} {
		if err != nil && strings.HasPrefix(err.Error(), beginning) {
			return true
		}
	}
	return false
}
