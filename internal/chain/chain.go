// Package chain seals the lines of a file that only grows. Each line ends with a checksum: the SHA-256 of the previous
// line's checksum and the line's text. Therefore a reader notices if a line was changed, removed or moved. It does not
// notice if the last lines are missing, or if somebody forged all lines.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Sum is the checksum of a line and all lines before it. The zero Sum is the one before the first line.
type Sum [sha256.Size]byte

// ErrDamaged is returned for a line that does not match its checksum.
var ErrDamaged = errors.New("the line is damaged")

// Append appends the next line to dst. The text must not contain a line break.
func (s Sum) Append(dst, text []byte) ([]byte, Sum) {
	next := sha256.Sum256(append(s[:], text...))
	dst = append(append(dst, text...), ' ')
	return append(hex.AppendEncode(dst, next[:]), '\n'), next
}

// Overhead is the number of bytes that follow the text of a line.
const Overhead = len(" ") + 2*sha256.Size + len("\n")

// Cut returns the text of the line with which data begins, and the size of the line. If the line is damaged, or has no
// line break, the size is 0.
func (s Sum) Cut(data []byte) (text []byte, size int, next Sum, err error) {
	size = bytes.IndexByte(data, '\n') + 1
	if size == 0 {
		return nil, 0, s, nil
	}
	at := size - Overhead
	if at < 0 {
		return nil, 0, s, ErrDamaged
	}
	line, next := s.Append(nil, data[:at])
	if !bytes.Equal(line, data[:size]) {
		return nil, 0, s, ErrDamaged
	}
	return data[:at:at], size, next, nil
}
