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
        if (end < 0 || !Object.hasOwn(classes, name)) fail(pattern, "\\" + next + "{…} with this name is not known in this engine");
        out += within ? classes[name] : "[" + classes[name] + "]";
        i = end;
      } else if (c === "\\") {
        if (sets && next === "q") fail(pattern, "\\q{…} cannot be used in this engine");
        out += c + next;
        i++;
      } else {
        if (sets && within && (c === "[" || (c === "&" || c === "-") && next === c)) fail(pattern, "sets of characters cannot be computed with in this engine");
        if (c === "[") within = true;
        if (c === "]") within = false;
        out += c;
      }
    }
    return out;
  };
  const RegExp = function RegExp(pattern, flags) {
    if (!new.target && pattern instanceof Native && flags === undefined) return pattern;
    if (typeof flags === "string" && flags.includes("d")) throw new SyntaxError("Invalid flags supplied to RegExp constructor '" + flags + "': there is no d in this engine");
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
