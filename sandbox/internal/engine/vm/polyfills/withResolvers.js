// Promise.withResolvers.
({
  withResolvers() {
    let resolve, reject;
    const promise = new this((yes, no) => { resolve = yes; reject = no; });
    return { promise, resolve, reject };
  },
}).withResolvers
