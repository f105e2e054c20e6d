// Object.groupBy and Map.groupBy.
(() => {
  const each = (items, callback, add) => {
    if (items === undefined || items === null) throw new TypeError(`groupBy: the items are ${items}`);
    if (typeof items[Symbol.iterator] !== "function") throw new TypeError("groupBy: the items must be iterable, such as an array");
    if (typeof callback !== "function") throw new TypeError("groupBy: the callback must be a function");
    let i = 0;
    for (const item of items) add(callback(item, i++), item);
  };
  return [
    ({
      groupBy(items, callback) {
        const groups = Object.create(null);
        each(items, callback, (key, item) => {
          if (typeof key !== "symbol") key = `${key}`;
          (groups[key] ??= []).push(item);
        });
        return groups;
      },
    }).groupBy,
    ({
      groupBy(items, callback) {
        const groups = new Map();
        each(items, callback, (key, item) => {
          const group = groups.get(key);
          group ? group.push(item) : groups.set(key, [item]);
        });
        return groups;
      },
    }).groupBy,
  ];
})
