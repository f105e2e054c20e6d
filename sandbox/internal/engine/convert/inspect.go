package convert

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// Limits for the text that is printed for one value.
const (
	inspectDepth = 6
	inspectItems = 100
	inspectBytes = 16 << 10
)

// Inspect formats a value for the console. It returns strings unchanged, and objects on one line, similar to Node.
func (c *Converter) Inspect(v goja.Value) string {
	if text, ok := v.(goja.String); ok {
		return text.String()
	}
	i := inspector{Converter: c}
	if exception := c.VM.Try(func() { i.value(v, 0) }); exception != nil {
		return "[a value that cannot be printed]"
	}
	return i.buf.String()
}

type inspector struct {
	*Converter
	buf  strings.Builder
	path []*goja.Object
}

func (i *inspector) value(v goja.Value, depth int) {
	if text, ok := v.(goja.String); ok {
		i.buf.WriteString(strconv.Quote(text.String()))
		return
	}
	switch v := v.(type) {
	case nil:
		i.buf.WriteString("undefined")
	case *goja.Object:
		i.object(v, depth)
	case *goja.Symbol:
		i.buf.WriteString("Symbol(" + v.String() + ")")
	default:
		i.buf.WriteString(v.String())
	}
}

func (i *inspector) object(o *goja.Object, depth int) {
	for _, outer := range i.path {
		if outer == o {
			i.buf.WriteString("[Circular]")
			return
		}
	}
	i.path = append(i.path, o)
	defer func() { i.path = i.path[:len(i.path)-1] }()
	class := ClassOf(o)
	switch {
	case class == "Function":
		i.buf.WriteString("[Function " + i.Text(o, "name") + "]")
	case class == "Error":
		i.error(o, i.Text(o, "message"), depth)
	case class == "Date", class == "RegExp", class == "Promise":
		i.atom(o, class)
	case depth >= inspectDepth:
		i.buf.WriteString("[" + class + "]")
	case class == "Array":
		i.array(o, depth)
	case class == "Map", class == "Set":
		i.collection(o, class, depth)
	default:
		i.members(o, depth)
	}
}

func (i *inspector) atom(o *goja.Object, class string) {
	switch class {
	case "Promise":
		i.promise(o)
	case "Date":
		e := newEncoder(i.VM, 0)
		if err := e.date(o); err == nil && e.buf.String() != "null" {
			i.buf.WriteString(strings.Trim(e.buf.String(), `"`))
		} else {
			i.buf.WriteString("Invalid Date")
		}
	default:
		i.buf.WriteString(o.String())
	}
}

// promise prints a promise's state. It does not print the value, because the program has not awaited the promise.
func (i *inspector) promise(o *goja.Object) {
	state := "pending"
	p, ok := PromiseOf(o)
	if ok && p.State() == goja.PromiseStateFulfilled {
		state = "fulfilled"
	} else if ok && p.State() == goja.PromiseStateRejected {
		state = "rejected"
	}
	i.buf.WriteString("Promise { <" + state + "> }")
	i.OnPromise(o)
}

func (i *inspector) array(o *goja.Object, depth int) {
	length := lengthOf(o, "length")
	i.buf.WriteString("[")
	for n := range length {
		if i.full(n, length) {
			break
		}
		i.value(o.Get(strconv.Itoa(n)), depth+1)
	}
	i.buf.WriteString("]")
}

func (i *inspector) collection(o *goja.Object, class string, depth int) {
	size := lengthOf(o, "size")
	i.buf.WriteString(class + "(" + strconv.Itoa(size) + ") {")
	n := 0
	i.VM.ForOf(o, func(v goja.Value) bool {
		if i.full(n, size) {
			return false
		}
		n++
		if class == "Set" {
			i.value(v, depth+1)
			return true
		}
		pair := v.ToObject(i.VM)
		i.value(pair.Get("0"), depth+1)
		i.buf.WriteString(" => ")
		i.value(pair.Get("1"), depth+1)
		return true
	})
	i.buf.WriteString("}")
}

var plainKey = regexp.MustCompile(`^[\pL_$][\pL\d_$]*$|^\d+$`)

func (i *inspector) members(o *goja.Object, depth int) {
	keys := o.Keys()
	i.buf.WriteString("{")
	for n, key := range keys {
		if i.full(n, len(keys)) {
			break
		}
		i.buf.WriteString(shownKey(key) + ": ")
		i.value(o.Get(key), depth+1)
	}
	i.buf.WriteString("}")
}

func shownKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

// full prints the separator before item n. If a limit is reached, it also prints the number of omitted items, and
// returns true.
func (i *inspector) full(n, total int) bool {
	if n > 0 {
		i.buf.WriteString(", ")
	}
	if n < inspectItems && i.buf.Len() < inspectBytes {
		return false
	}
	i.buf.WriteString("… " + strconv.Itoa(total-n) + " more")
	return true
}
