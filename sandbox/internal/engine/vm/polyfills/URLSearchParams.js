// A factory. decode and encode implement application/x-www-form-urlencoded, and wellFormed
// converts a value to a string without unpaired surrogates. There are no generator functions,
// because programs could create code from strings with their constructor.
((decode, encode, wellFormed) => {
  const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  const iterate = (list, pick) => {
    let i = 0;
    const next = () => i < list.length ? { value: pick(list[i++]), done: false } : { value: undefined, done: true };
    return Object.create(iteratorPrototype, { next: { value: next, writable: true, configurable: true } });
  };
  const need = (args, count, names) => {
    if (args.length < count) throw new TypeError(`URLSearchParams: ${names} must be specified`);
  };
  return class URLSearchParams {
    #list = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object" && typeof init !== "function") return void this.#parse(wellFormed(init));
      const iterator = init[Symbol.iterator];
      if (iterator === undefined || iterator === null) {
        for (const name of Reflect.ownKeys(init)) {
          if (Object.getOwnPropertyDescriptor(init, name)?.enumerable) this.append(name, init[name]);
        }
        return;
      }
      for (const pair of init) {
        const parts = pair === null || typeof pair !== "object" || !pair[Symbol.iterator] ? [] : [...pair];
        if (parts.length !== 2) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
        this.append(parts[0], parts[1]);
      }
    }
    #parse(text) {
      for (const part of (text.startsWith("?") ? text.slice(1) : text).split("&")) {
        if (part === "") continue;
        const at = part.indexOf("=");
        this.#list.push(at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]);
      }
    }
    #keep(wanted) {
      const kept = this.#list.filter(wanted);
      this.#list.length = 0;
      for (const pair of kept) this.#list.push(pair);
    }
    get size() { return this.#list.length; }
    append(name, value) {
      need(arguments, 2, "a name and a value");
      this.#list.push([wellFormed(name), wellFormed(value)]);
    }
    delete(name, value) {
      need(arguments, 1, "a name");
      name = wellFormed(name);
      if (value !== undefined) value = wellFormed(value);
      this.#keep(pair => pair[0] !== name || value !== undefined && pair[1] !== value);
    }
    get(name) {
      need(arguments, 1, "a name");
      name = wellFormed(name);
      return this.#list.find(pair => pair[0] === name)?.[1] ?? null;
    }
    getAll(name) {
      need(arguments, 1, "a name");
      name = wellFormed(name);
      return this.#list.filter(pair => pair[0] === name).map(pair => pair[1]);
    }
    has(name, value) {
      need(arguments, 1, "a name");
      name = wellFormed(name);
      if (value !== undefined) value = wellFormed(value);
      return this.#list.some(pair => pair[0] === name && (value === undefined || pair[1] === value));
    }
    set(name, value) {
      need(arguments, 2, "a name and a value");
      name = wellFormed(name);
      value = wellFormed(value);
      const first = this.#list.find(pair => pair[0] === name);
      if (!first) return void this.#list.push([name, value]);
      first[1] = value;
      this.#keep(pair => pair === first || pair[0] !== name);
    }
    sort() { this.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); }
    forEach(callback, self) {
      if (typeof callback !== "function") throw new TypeError("URLSearchParams.forEach: the callback must be a function");
      for (let i = 0; i < this.#list.length; i++) callback.call(self, this.#list[i][1], this.#list[i][0], this);
    }
    keys() { return iterate(this.#list, pair => pair[0]); }
    values() { return iterate(this.#list, pair => pair[1]); }
    entries() { return this[Symbol.iterator](); }
    [Symbol.iterator]() { return iterate(this.#list, pair => [pair[0], pair[1]]); }
    get [Symbol.toStringTag]() { return "URLSearchParams"; }
    toString() { return this.#list.map(pair => encode(pair[0]) + "=" + encode(pair[1])).join("&"); }
  };
})
