//! WeakRef
const WeakRef = class WeakRef {
  #target;
  constructor(target) { this.#target = target; }
  deref() { return this.#target; }
};
//! FinalizationRegistry
const FinalizationRegistry = class FinalizationRegistry {
  register() {}
  unregister() { return false; }
};
//! TextEncoder
const TextEncoder = class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") {
    const bytes = [];
    for (const char of String(text)) {
      let c = char.codePointAt(0);
      if (c >= 0xd800 && c <= 0xdfff) c = 0xfffd;
      if (c < 0x80) bytes.push(c);
      else if (c < 0x800) bytes.push(0xc0 | c >> 6, 0x80 | c & 63);
      else if (c < 0x10000) bytes.push(0xe0 | c >> 12, 0x80 | c >> 6 & 63, 0x80 | c & 63);
      else bytes.push(0xf0 | c >> 18, 0x80 | c >> 12 & 63, 0x80 | c >> 6 & 63, 0x80 | c & 63);
    }
    return new Uint8Array(bytes);
  }
};
//! TextDecoder
const TextDecoder = class TextDecoder {
  #fatal; #keep;
  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError("this engine supports only utf-8, not " + label);
    this.#fatal = fatal; this.#keep = ignoreBOM;
  }
  get encoding() { return "utf-8"; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keep; }
  decode(input = new Uint8Array()) {
    const b = input instanceof ArrayBuffer ? new Uint8Array(input) : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    let text = "";
    for (let i = 0; i < b.length;) {
      const c = b[i];
      const [size, least, mask] = c < 0x80 ? [1, 0, 0x7f] : c >= 0xc2 && c < 0xe0 ? [2, 0x80, 31] : c >= 0xe0 && c < 0xf0 ? [3, 0x800, 15] : c >= 0xf0 && c < 0xf5 ? [4, 0x10000, 7] : [0, 0, 0];
      let n = c & mask, have = 1;
      for (; have < size; have++) {
        const next = b[i + have];
        if (next === undefined || next >> 6 !== 2) break;
        const low = have > 1 ? 0x80 : c === 0xe0 ? 0xa0 : c === 0xf0 ? 0x90 : 0x80;
        const high = have > 1 ? 0xbf : c === 0xed ? 0x9f : c === 0xf4 ? 0x8f : 0xbf;
        if (next < low || next > high) break;
        n = n << 6 | next & 63;
      }
      if (size === 0 || have < size || n < least) {
        if (this.#fatal) throw new TypeError("The encoded data was not valid for encoding utf-8");
        text += "\ufffd";
        i += size === 0 ? 1 : have;
        continue;
      }
      text += String.fromCodePoint(n);
      i += size;
    }
    return !this.#keep && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
};
//! URL
const URL = class URL {
  #p; #params;
  static #Query = class extends URLSearchParams {
    #changed;
    constructor(search, changed) { super(search); this.#changed = () => changed(this.toString()); }
    append(k, v) { super.append(k, v); this.#changed(); }
    delete(k, v) { super.delete(k, v); this.#changed(); }
    set(k, v) { super.set(k, v); this.#changed(); }
    sort() { super.sort(); this.#changed(); }
  };
  static #ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
  static canParse(url, base) { try { return !!new URL(url, base); } catch { return false; } }
  static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
  static #bad(url) { return Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(url) }); }
  constructor(url, base) {
    const text = String(url).replace(/^[\0-\x20]+|[\0-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
    this.#p = URL.#read(text, base === undefined ? null : new URL(base).#p);
    if (!this.#p) throw URL.#bad(url);
    this.#params = new URL.#Query(this.#p.search, s => { this.#p.search = s && "?" + s; });
  }
  static #escape(s, also) {
    const half = c => c.length === 1 && c >= "\ud800" && c <= "\udfff";
    return [...s].map(c => c > "~" || c < " " || also.includes(c) ? encodeURIComponent(half(c) ? "\ufffd" : c).replace(/^'$/, "%27") : c).join("");
  }
  static #read(text, base) {
    const m = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
    let protocol = m ? m[1].toLowerCase() + ":" : base && base.protocol;
    if (!protocol) return null;
    const special = protocol in URL.#ports;
    let rest = m ? text.slice(m[0].length) : text, hash = "", search = "";
    let at = rest.indexOf("#");
    if (at >= 0) { hash = "#" + URL.#escape(rest.slice(at + 1), " \"<>`"); rest = rest.slice(0, at); }
    at = rest.indexOf("?");
    if (at >= 0) { search = "?" + URL.#escape(rest.slice(at + 1), special ? " \"#<>'" : " \"#<>"); rest = rest.slice(0, at); }
    if (hash === "#") hash = "";
    if (special) rest = rest.replace(/\\/g, "/");
    const p = { protocol, username: "", password: "", hostname: "", port: "", pathname: "", search: search === "?" ? "" : search, hash, host: false, opaque: false };
    const absolute = m && !(special && base && base.protocol === protocol && !rest.startsWith("/"));
    let authority = null;
    if (special && absolute && protocol !== "file:") {
      [, authority, rest] = /^\/*([^/]*)(.*)$/s.exec(rest);
    } else if (rest.startsWith("//")) {
      [, authority, rest] = /^\/\/([^/]*)(.*)$/s.exec(rest);
    }
    if (authority !== null) {
      if (!URL.#authority(p, authority, special)) return null;
    } else if (!absolute) {
      if (!base || base.opaque) return base && text.startsWith("#") ? { ...base, hash } : null;
      for (const k of ["username", "password", "hostname", "port", "host"]) p[k] = base[k];
      if (rest === "") { rest = base.pathname; if (at < 0) p.search = base.search; p.pathname = rest; return p; }
      if (!rest.startsWith("/")) rest = base.pathname.replace(/[^/]*$/, "") + rest;
    } else if (!rest.startsWith("/") && !special) {
      p.opaque = true;
      p.pathname = URL.#escape(rest, "");
      return p;
    }
    if (protocol === "file:") p.host = true;
    const path = URL.#escape(rest, " \"#<>?`{}^");
    p.pathname = special || path.startsWith("/") ? URL.#dots(path) : path;
    return p;
  }
  static #dots(path) {
    const out = [];
    const parts = path.replace(/^\//, "").split("/");
    parts.forEach((part, i) => {
      const plain = part.replace(/%2e/gi, ".");
      if (plain === "..") { out.pop(); if (i === parts.length - 1) out.push(""); }
      else if (plain === ".") { if (i === parts.length - 1) out.push(""); }
      else out.push(part);
    });
    return "/" + out.join("/");
  }
  static #authority(p, text, special) {
    const at = text.lastIndexOf("@");
    if (at >= 0) {
      const [, user, password] = /^([^:]*):?(.*)$/s.exec(text.slice(0, at));
      const also = " \"#<>?`{}/:;=@[]^|\\'";
      p.username = URL.#escape(user, also); p.password = URL.#escape(password, also);
      text = text.slice(at + 1);
    }
    const m = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(text);
    if (!m) return false;
    const port = m[2] ? Number(m[2]) : "";
    if (port > 65535) return false;
    p.port = String(port) === URL.#ports[p.protocol] ? "" : String(port);
    p.hostname = URL.#hostname(m[1], special);
    p.host = true;
    return p.hostname !== null && (p.hostname !== "" || !special && at < 0 && port === "" || p.protocol === "file:" && at < 0 && port === "");
  }
  static #hostname(host, special) {
    if (host.startsWith("[")) return URL.#six(host.slice(1, -1));
    if (!special) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(host) ? null : URL.#escape(host, "");
    try { host = decodeURIComponent(host); } catch { return null; }
    host = host.toLowerCase();
    if (/[^\x00-\x7f]/.test(host)) throw new Error("this engine's URL supports only ASCII hosts, not " + host);
    if (/[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host)) return null;
    const parts = host.replace(/\.$/, "").split(".");
    return /^(\d+|0x[0-9a-f]*)$/.test(parts.at(-1)) ? URL.#four(parts) : host;
  }
  static #four(parts) {
    if (parts.length > 4) return null;
    const numbers = parts.map(s => /^0x[0-9a-f]*$/.test(s) ? parseInt(s.slice(2) || "0", 16) : /^0[0-7]*$/.test(s) ? parseInt(s, 8) : /^[1-9]\d*$/.test(s) ? Number(s) : NaN);
    const last = numbers.pop();
    if (numbers.some(n => !(n <= 255)) || !(last < 256 ** (4 - numbers.length))) return null;
    const whole = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
    return [24, 16, 8, 0].map(shift => Math.floor(whole / 2 ** shift) % 256).join(".");
  }
  static #six(text) {
    const quad = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
    if (quad) {
      const n = quad.slice(2).map(Number);
      if (n.some((v, i) => v > 255 || String(v) !== quad[i + 2])) return null;
      text = quad[1] + (n[0] * 256 + n[1]).toString(16) + ":" + (n[2] * 256 + n[3]).toString(16);
    }
    const halves = text.split("::");
    if (halves.length > 2) return null;
    const [head, tail] = halves.map(h => h === "" ? [] : h.split(":"));
    const given = head.length + (tail ? tail.length : 0);
    if ([...head, ...tail ?? []].some(h => !/^[0-9a-fA-F]{1,4}$/.test(h)) || (tail ? given > 7 : given !== 8)) return null;
    const all = tail ? [...head, ...Array(8 - given).fill("0"), ...tail] : head;
    const short = all.map(h => parseInt(h, 16).toString(16));
    let best = [0, 1];
    for (let i = 0; i < 8; i++) {
      let n = 0;
      while (short[i + n] === "0") n++;
      if (n > best[1]) best = [i, n];
      i += n;
    }
    const joined = best[1] > 1 ? short.slice(0, best[0]).join(":") + "::" + short.slice(best[0] + best[1]).join(":") : short.join(":");
    return "[" + joined + "]";
  }
  get protocol() { return this.#p.protocol; }
  get username() { return this.#p.username; }
  get password() { return this.#p.password; }
  get hostname() { return this.#p.hostname; }
  get port() { return this.#p.port; }
  get host() { return this.#p.hostname + (this.#p.port && ":" + this.#p.port); }
  get pathname() { return this.#p.pathname; }
  get search() { return this.#p.search; }
  get hash() { return this.#p.hash; }
  get searchParams() { return this.#params; }
  get origin() { return this.#p.protocol in URL.#ports && this.#p.protocol !== "file:" ? this.#p.protocol + "//" + this.host : "null"; }
  get href() {
    const p = this.#p;
    const user = p.username + (p.password && ":" + p.password);
    return p.protocol + (p.host ? "//" + (user && user + "@") + this.host : "") + p.pathname + p.search + p.hash;
  }
  set pathname(v) { if (!this.#p.opaque) this.#p.pathname = URL.#dots(URL.#escape(String(v), " \"#<>?`{}^")); }
  set search(v) {
    const s = String(v).replace(/^\?/, "");
    this.#p.search = s && "?" + URL.#escape(s, " \"#<>'");
    this.#params = new URL.#Query(this.#p.search, q => { this.#p.search = q && "?" + q; });
  }
  set hash(v) { const s = String(v).replace(/^#/, ""); this.#p.hash = s && "#" + URL.#escape(s, " \"<>`"); }
  toString() { return this.href; }
  toJSON() { return this.href; }
};
//! Promise.try
Promise.try ??= function (f, ...args) { return new this(resolve => resolve(f(...args))); };
//! Array.fromAsync
Array.fromAsync ??= async (items, f = v => v) => {
  const out = [];
  const symbol = Symbol.asyncIterator ?? Symbol.for("Symbol.asyncIterator");
  if (items[symbol]) {
    const it = items[symbol]();
    for (let step = await it.next(); !step.done; step = await it.next()) out.push(await f(step.value, out.length));
    return out;
  }
  for (const item of typeof items[Symbol.iterator] === "function" ? items : Array.from(items)) out.push(await f(await item, out.length));
  return out;
};
//! Symbol.asyncIterator
Symbol.asyncIterator ??= Symbol.for("Symbol.asyncIterator");
//! Symbol.dispose
Symbol.dispose ??= Symbol.for("Symbol.dispose");
//! Symbol.asyncDispose
Symbol.asyncDispose ??= Symbol.for("Symbol.asyncDispose");
