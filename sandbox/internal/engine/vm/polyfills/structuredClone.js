// A factory. kindOf returns the kind of an object, regardless of its prototype. Objects in progress are on a
// list instead of the call stack, so that any depth is possible.
(kindOf => ({ structuredClone(value) {
  if (arguments.length === 0) throw new TypeError("structuredClone: the argument is missing");
  const copies = new Map(), open = [];
  const define = (to, key, value, enumerable) => Object.defineProperty(to, key, { value, writable: true, enumerable, configurable: true });
  const refuse = text => {
    const error = new Error(text + " could not be cloned.");
    throw define(error, "name", "DataCloneError", false);
  };
  const fill = (to, items, read, put, close) => {
    open.push({ items, at: 0, read, put, close });
    return to;
  };
  const members = (v, to) => fill(to, Object.keys(v), key => v[key], (key, item) => {
    if (key === "__proto__") define(to, key, item, true);
    else to[key] = item;
  });
  const classes = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const makers = {
    Object: v => members(v, {}),
    Array: v => members(v, new Array(v.length)),
    Date: v => new Date(Date.prototype.getTime.call(v)),
    RegExp: v => new RegExp(v.source, v.flags),
    Boolean: v => Object(Boolean.prototype.valueOf.call(v)),
    Number: v => Object(Number.prototype.valueOf.call(v)),
    String: v => Object(String.prototype.valueOf.call(v)),
    BigInt: v => Object(BigInt.prototype.valueOf.call(v)),
    ArrayBuffer: v => {
      const bytes = new Uint8Array(v), to = new Uint8Array(bytes.length);
      to.set(bytes);
      return to.buffer;
    },
    View: v => {
      const typed = Object.getPrototypeOf(Int8Array.prototype);
      const name = Reflect.get(typed, Symbol.toStringTag, v);
      const own = key => Reflect.get(name ? typed : DataView.prototype, key, v);
      return new globalThis[name ?? "DataView"](copy(own("buffer")), own("byteOffset"), own(name ? "length" : "byteLength"));
    },
    Map: v => {
      const to = new Map(), items = [];
      Map.prototype.forEach.call(v, (item, key) => { items.push(key, item); });
      const flat = [];
      return fill(to, items, item => item, (_, item) => { flat.push(item); }, () => {
        for (let i = 0; i < flat.length; i += 2) to.set(flat[i], flat[i + 1]);
      });
    },
    Set: v => {
      const to = new Set(), items = [];
      Set.prototype.forEach.call(v, item => { items.push(item); });
      return fill(to, items, item => item, (_, item) => { to.add(item); });
    },
    Error: v => {
      const own = ["message", "stack", "cause"].filter(key => Object.hasOwn(v, key));
      const to = new (Object.hasOwn(classes, v.name) ? classes[v.name] : Error)();
      return fill(to, own, key => key === "cause" ? v.cause : String(v[key]), (key, item) => define(to, key, item, false));
    },
  };
  const copy = v => {
    if (typeof v === "function" || typeof v === "symbol") refuse(String(v));
    if (typeof v !== "object" || v === null) return v;
    if (copies.has(v)) return copies.get(v);
    const kind = ArrayBuffer.isView(v) ? "View" : kindOf(v);
    if (!Object.hasOwn(makers, kind)) refuse("#<" + kind + ">");
    for (const weak of kind === "Object" ? [WeakMap, WeakSet] : []) {
      if (v instanceof weak) refuse("#<" + weak.name + ">");
    }
    const to = makers[kind](v);
    copies.set(v, to);
    return to;
  };
  const result = copy(value);
  while (open.length > 0) {
    const top = open[open.length - 1];
    if (top.at < top.items.length) {
      const item = top.items[top.at++];
      top.put(item, copy(top.read(item)));
      continue;
    }
    open.pop();
    top.close?.();
  }
  return result;
} }).structuredClone)
