package vm

import (
	"hash/maphash"
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

const (
	maxPaths = 500     // paths in a VM's results
	maxLooks = 1000    // reads of the same missing member whose positions are looked up
	maxText  = 1 << 20 // bytes of a string that is recognized as a result
)

// misses notices when a program reads a member that an object in a result does not have. All objects at one path in a
// tool's results (see [convert.ResultPath]) have the same prototype: a proxy, which goja consults only for members that
// the objects themselves do not have. To notice such reads of strings and promises, String.prototype and
// Promise.prototype have such a proxy as their prototype.
type misses struct {
	left    int                            // how many more paths the VM may have
	tools   map[string]*convert.ResultPath // the paths to whole results, by the tools
	texts   map[uint64]*convert.ResultPath // the paths to results that are strings, by the hashes of the strings
	seed    maphash.Seed
	objects *goja.Object          // Object.prototype
	base    *goja.Object          // the target of the proxies: an empty object
	hidden  map[*goja.Object]bool // the proxies
}

// missKey is a missing member of the objects at a path, or of strings if the path is nil.
type missKey struct {
	path   *convert.ResultPath
	member string
}

// watchMembers prepares the VM to notice reads of missing members, once, and only if the program reads members. promise
// is the promise of any call.
func (r *machine) watchMembers(promise *goja.Object) {
	m := &r.misses
	if m.tools != nil || !r.program.ReadsMembers() {
		return
	}
	m.left, m.seed = maxPaths, maphash.MakeSeed()
	m.tools, m.texts = map[string]*convert.ResultPath{}, map[uint64]*convert.ResultPath{}
	m.hidden, m.base = map[*goja.Object]bool{}, r.vm.NewObject()
	m.objects = m.base.Prototype()
	_ = r.vm.Try(func() { _ = r.prototype("String").SetPrototype(r.sentinel(nil)) })
	_ = promise.Prototype().SetPrototype(r.sentinel(nil))
}

// resultOf returns the path to a call's result, or nil if the call failed or the program reads no members.
func (r *machine) resultOf(c callPromise) *convert.ResultPath {
	m := &r.misses
	if !r.program.ReadsMembers() || c.reply.Error != nil || m.tools == nil {
		return nil
	}
	tool := r.scope.tools[c.Tool].Path()
	if m.tools[tool] == nil {
		m.tools[tool] = convert.NewResultPath(tool, &m.left, r.sentinel)
	}
	return m.tools[tool]
}

// noteText records that a call returned a string.
func (r *machine) noteText(value goja.Value, c callPromise) {
	text, ok := value.(goja.String)
	if ok && r.misses.tools != nil && text.Length() <= maxText && len(r.misses.texts) < maxPaths {
		r.misses.texts[maphash.String(r.misses.seed, text.String())] = r.resultOf(c)
	}
}

// pathOfText returns the path to the result that is equal to a string, or nil.
func (r *machine) pathOfText(text goja.String) *convert.ResultPath {
	if len(r.misses.texts) == 0 || text.Length() > maxText {
		return nil
	}
	return r.misses.texts[maphash.String(r.misses.seed, text.String())]
}

// sentinel returns a proxy that is the prototype of the objects at p. If p is nil, the proxy is the prototype
// of String.prototype or Promise.prototype.
func (r *machine) sentinel(p *convert.ResultPath) *goja.Object {
	proxy := r.vm.NewProxy(r.misses.base, &goja.ProxyTrapConfig{
		Get: func(base *goja.Object, name string, receiver goja.Value) goja.Value {
			if name == "__proto__" {
				return r.visible(receiver.ToObject(r.vm).Prototype())
			}
			if v := base.Get(name); v != nil {
				return v
			}
			r.missed(p, name, receiver)
			return goja.Undefined()
		},
		GetSym: func(base *goja.Object, name *goja.Symbol, receiver goja.Value) goja.Value {
			v := base.GetSymbol(name)
			if v == nil {
				v = goja.Undefined()
			}
			if p != nil && name == goja.SymToPrimitive && r.looks(missKey{p, ""}) {
				r.miss(engine.Miss{Tool: p.Tool, Path: p.Path, Pos: r.position()})
			}
			if o, ok := receiver.(*goja.Object); ok && p == nil && name == goja.SymIterator {
				r.notePromise(o, engine.Read, r.position())
			}
			return v
		},
	})
	object := r.vm.ToValue(proxy).ToObject(r.vm)
	r.misses.hidden[object] = true
	return object
}

// visible returns Object.prototype instead of a proxy of misses, so that programs do not see the proxy.
func (r *machine) visible(prototype *goja.Object) goja.Value {
	switch {
	case prototype == nil:
		return goja.Null()
	case r.misses.hidden[prototype]:
		return r.misses.objects
	}
	return prototype
}

// looks counts a read of a missing member. It reports whether to look up the read's position.
func (r *machine) looks(key missKey) bool {
	if r.looked[key] == maxLooks || len(r.missing) == engine.MaxMisses || r.ended {
		return false
	}
	engine.Put(&r.looked, key, r.looked[key]+1)
	return true
}

// missed records the read of a member that an object at the path p does not have or, if p is nil, that a string or a
// promise does not have.
func (r *machine) missed(p *convert.ResultPath, name string, receiver goja.Value) {
	m := engine.Miss{Member: name}
	promise, _ := receiver.(*goja.Object)
	if text, ok := receiver.(goja.String); ok && p == nil {
		m.Text, p = true, r.pathOfText(text)
	}
	if name == "then" || name == "toJSON" || !r.looks(missKey{p, name}) {
		return
	}
	frames := r.vm.CaptureCallStack(1, r.frames[:0])
	if len(frames) == 0 || frames[0].SrcName() != r.program.Name {
		return // a built-in function or an earlier program reads the member
	}
	at := frames[0].Position()
	if p != nil {
		m.Tool, m.Path = p.Tool, p.Path
	}
	m.Pos = r.program.ReadAt(r.program.Source.FromFrame(at.Line, at.Column), name, m.Text && p != nil)
	switch {
	case m.Line == 0:
	case p == nil && !m.Text:
		r.notePromise(promise, engine.Read, m.Pos)
	default:
		r.miss(m)
	}
}

func (r *machine) miss(m engine.Miss) {
	if m.Line > 0 && !slices.Contains(r.missing, m) {
		r.missing = append(r.missing, m)
	}
}

// guardPrototypes makes the functions getPrototypeOf return Object.prototype instead of a proxy of misses.
func (r *machine) guardPrototypes() {
	for _, holder := range []string{"Object", "Reflect"} {
		object := r.vm.Get(holder).ToObject(r.vm)
		r.replace(object, "getPrototypeOf", func(next goja.Callable, c goja.FunctionCall) goja.Value {
			prototype, _ := r.call(next, c).(*goja.Object)
			return r.visible(prototype)
		})
	}
}

// parseResult implements JSON.parse for tool results. If the argument is a string that a tool returned, it returns the
// parsed value, whose objects have the prototypes of their paths. If the argument is an object of a result or an array,
// it returns the argument. Otherwise, it returns nil.
func (r *machine) parseResult(c goja.FunctionCall) goja.Value {
	if len(c.Arguments) != 1 {
		return nil
	}
	switch argument := c.Arguments[0].(type) {
	case goja.String:
		if p := r.pathOfText(argument); p != nil {
			if v, err := r.convert.Parse(argument.String(), p); err == nil {
				return v
			}
		}
	case *goja.Object:
		if class := convert.ClassOf(argument); class == "Array" || r.misses.hidden[argument.Prototype()] {
			return argument
		}
	}
	return nil
}
