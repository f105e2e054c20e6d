const RegExp = (classes => {
  const Native = globalThis.RegExp;
  const fail = (pattern, why) => { throw new SyntaxError("Invalid regular expression: /" + pattern + "/: " + why); };
  const expand = (pattern, sets) => {
    if (!sets && !pattern.includes("\\p{") && !pattern.includes("\\P{")) return pattern;
    let out = "", within = false;
    for (let i = 0; i < pattern.length; i++) {
      const c = pattern[i];
      const next = pattern[i + 1];
      if (c === "\\" && (next === "p" || next === "P") && pattern[i + 2] === "{") {
        const end = pattern.indexOf("}", i);
        const name = (next === "P" ? "^" : "") + pattern.slice(i + 3, end);
        if (end < 0 || !Object.hasOwn(classes, name)) fail(pattern, "\\" + next + "{…} has a name that this engine does not know");
        out += within ? classes[name] : "[" + classes[name] + "]";
        i = end;
      } else if (c === "\\") {
        if (sets && next === "q") fail(pattern, "this engine does not support \\q{…}");
        out += c + next;
        i++;
      } else {
        if (sets && within && (c === "[" || (c === "&" || c === "-") && next === c)) fail(pattern, "this engine does not support set operations on characters");
        if (c === "[") within = true;
        if (c === "]") within = false;
        out += c;
      }
    }
    return out;
  };
  const RegExp = function RegExp(pattern, flags) {
    if (!new.target && pattern instanceof Native && flags === undefined) return pattern;
    if (typeof flags === "string" && flags.includes("d")) throw new SyntaxError("Invalid flags supplied to RegExp constructor '" + flags + "': this engine does not support the flag d");
    let source = null;
    if (typeof flags === "string" && /[uv]/.test(flags)) {
      const given = pattern instanceof Native ? pattern.source : String(pattern);
      pattern = expand(given, flags.includes("v"));
      if (pattern !== given) source = given;
      flags = flags.replace("v", "u");
    }
    const made = new Native(pattern, flags);
    if (source !== null) Object.defineProperty(made, "source", { value: source, configurable: true });
    if (new.target && new.target !== RegExp) Object.setPrototypeOf(made, new.target.prototype);
    return made;
  };
  Object.setPrototypeOf(RegExp, Native);
  RegExp.prototype = Native.prototype;
  return RegExp;
})(CLASSES);
