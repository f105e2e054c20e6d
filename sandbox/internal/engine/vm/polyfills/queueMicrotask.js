({ queueMicrotask(callback) {
  if (typeof callback !== "function") throw new TypeError("queueMicrotask: the callback must be a function");
  Promise.resolve().then(() => { callback(); });
} }).queueMicrotask
