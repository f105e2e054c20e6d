package models

import "bytes"

// A request may be many megabytes of pictures, of which a few bytes are to be
// changed. So it is not decoded: these functions cut its text between members
// and elements, and what is not changed is copied as it stands.

// items returns the members of an object, or the elements of an array, as they
// are written; ok is false if text is no such thing, as open says, or broken.
func items(text []byte, open byte) (list [][]byte, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != open || text[len(text)-1] != closing(open) {
		return nil, false
	}
	rest := bytes.TrimSpace(text[1 : len(text)-1])
	for len(rest) > 0 {
		n := itemLen(rest)
		if n < 0 {
			return nil, false
		}
		list = append(list, rest[:n])
		rest = rest[min(n+1, len(rest)):]
	}
	return list, true
}

func closing(open byte) byte { return open + 2 } // both pairs, in ASCII

// itemLen is how long the first item is: up to a comma that is in no brackets and
// no string, or the end. It is negative if brackets or quotes don't match.
func itemLen(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := stringLen(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return len(text)
}

// stringLen is how long the string is that text begins with, with its quotes, or
// negative if it does not end.
func stringLen(text []byte) int {
	for end := 1; ; end++ {
		n := bytes.IndexByte(text[end:], '"')
		if n < 0 {
			return -1
		}
		end += n
		before := text[1:end]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 0 {
			return end + 1
		}
	}
}

// member parts an item of an object. The name is empty if it is none.
func member(item []byte) (name string, value []byte) {
	item = bytes.TrimSpace(item)
	if len(item) == 0 || item[0] != '"' {
		return "", nil
	}
	n := stringLen(item)
	if n < 0 {
		return "", nil
	}
	value, found := bytes.CutPrefix(bytes.TrimSpace(item[n:]), []byte(":"))
	if !found {
		return "", nil
	}
	return string(item[1 : n-1]), bytes.TrimSpace(value)
}

// named is the inverse of member.
func named(name string, value []byte) []byte {
	return append([]byte(`"`+name+`":`), value...)
}

// joined is the inverse of items.
func joined(open byte, list [][]byte) []byte {
	size := len(list) + 2
	for _, item := range list {
		size += len(item)
	}
	text := append(make([]byte, 0, size), open)
	for i, item := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	return append(text, closing(open))
}
