package convert

import "github.com/dop251/goja"

// Describe formats an error with its class, the message, its properties, its cause and, for an AggregateError,
// its errors.
func (c *Converter) Describe(o *goja.Object, message string) string {
	i := inspector{Converter: c, path: []*goja.Object{o}}
	if exception := c.VM.Try(func() { i.error(o, message, 0) }); exception != nil {
		return WordError(c.Text(o, "name"), message)
	}
	return i.buf.String()
}

// maxCauses bounds the chain of causes.
const maxCauses = 4

// error prints an error on one line.
func (i *inspector) error(o *goja.Object, message string, depth int) {
	name := i.Text(o, "name")
	errs := i.ErrorsOf(o)
	if message == "" && len(errs) > 0 {
		message = "All promises were rejected"
	}
	if tool := i.ToolOf(o); tool != "" {
		name, message = "ToolError", tool+": "+message
	}
	i.buf.WriteString(WordError(name, message))
	if depth >= inspectDepth {
		return
	}
	if name != "ToolError" {
		i.carried(o, depth)
	}
	if len(errs) > 0 {
		i.buf.WriteString(": [")
		for n, e := range errs {
			if i.full(n, len(errs)) {
				break
			}
			i.value(e, depth+1)
		}
		i.buf.WriteString("]")
	}
	if cause := o.Get("cause"); cause != nil && !goja.IsUndefined(cause) && depth < maxCauses {
		i.buf.WriteString("; caused by: ")
		i.value(cause, depth+1)
	}
}

// carried prints the properties that the program added to an error.
func (i *inspector) carried(o *goja.Object, depth int) {
	n := 0
	for _, key := range o.Keys() {
		switch key {
		case "name", "message", "stack", "cause", "errors":
			continue
		}
		before := ", "
		if n == 0 {
			before = " {"
		}
		i.buf.WriteString(before)
		if n++; n > inspectItems || i.buf.Len() > inspectBytes {
			i.buf.WriteString("…")
			break
		}
		i.buf.WriteString(shownKey(key) + ": ")
		i.value(o.Get(key), depth+1)
	}
	if n > 0 {
		i.buf.WriteString("}")
	}
}

// ErrorsOf returns an AggregateError's errors.
func (c *Converter) ErrorsOf(o *goja.Object) (list []goja.Value) {
	_ = c.VM.Try(func() {
		errs, ok := o.Get("errors").(*goja.Object)
		if !ok || errs.ClassName() != "Array" {
			return
		}
		c.VM.ForOf(errs, func(v goja.Value) bool {
			list = append(list, v)
			return len(list) < inspectItems
		})
	})
	return list
}
