// A MongoDB server of a few documents: enough of the wire protocol for a driver to
// connect, list, count and find. Prints its port.
import net from "node:net";
import { BSON } from "bson";

const shop = [
  { _id: 1, item: "lamp", price: 20 },
  { _id: 2, item: "desk", price: 150 },
  { _id: 3, item: "chair", price: 80 },
];
const cursor = (ns, batch) => ({ cursor: { id: BSON.Long.ZERO, ns, firstBatch: batch }, ok: 1 });
const hello = () => ({
  helloOk: true, isWritablePrimary: true, ismaster: true, maxBsonObjectSize: 16 << 20,
  maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, localTime: new Date(0),
  minWireVersion: 0, maxWireVersion: 21, readOnly: false, ok: 1,
});
const found = ({ filter = {}, limit = 0, sort = {} }) => {
  const [[key, way] = []] = Object.entries(sort);
  const list = shop.filter((d) => Object.entries(filter).every(([k, v]) => d[k] === v || v?.$gt < d[k]));
  if (key) list.sort((a, b) => way * (a[key] - b[key]));
  return limit ? list.slice(0, limit) : list;
};
const commands = {
  hello, ismaster: hello, isMaster: hello,
  ping: () => ({ ok: 1 }), endSessions: () => ({ ok: 1 }), connectionStatus: () => ({ authInfo: {}, ok: 1 }),
  buildInfo: () => ({ version: "7.0.0", versionArray: [7, 0, 0, 0], modules: [], ok: 1 }),
  listDatabases: () => ({ databases: [{ name: "shop", sizeOnDisk: 4096, empty: false }], totalSize: 4096, ok: 1 }),
  listCollections: () => cursor("shop.$cmd.listCollections", [{ name: "items", type: "collection" }]),
  find: (q) => cursor("shop.items", found(q)),
  aggregate: (q) => {
    if (q.pipeline.some((s) => s.$group)) {
      return cursor("shop.items", [{ _id: 1, n: found({ filter: q.pipeline[0].$match ?? {} }).length }]);
    }
    return cursor("shop.items", shop);
  },
  explain: () => ({ queryPlanner: { winningPlan: { stage: "COLLSCAN" } }, ok: 1 }),
};
const run = (document) => {
  const name = Object.keys(document)[0];
  return commands[name]?.(document) ?? { ok: 0, code: 59, codeName: "CommandNotFound", errmsg: `no such command: '${name}'` };
};
const frame = (opcode, to, body) => {
  const head = Buffer.alloc(16);
  [16 + body.length, 1, to, opcode].forEach((n, i) => head.writeInt32LE(n, 4 * i));
  return Buffer.concat([head, body]);
};
const answer = (message) => {
  const id = message.readInt32LE(4);
  if (message.readInt32LE(12) === 2013) { // OP_MSG
    return frame(2013, id, Buffer.concat([Buffer.alloc(5), BSON.serialize(run(BSON.deserialize(message.subarray(21))))]));
  }
  const start = message.indexOf(0, 20) + 9; // OP_QUERY: flags, name, skip, number to return, document
  const document = BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)));
  const head = Buffer.alloc(20);
  head.writeInt32LE(1, 16);
  return frame(1, id, Buffer.concat([head, BSON.serialize(run(document))]));
};
const server = net.createServer((socket) => {
  let bytes = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= bytes.readInt32LE(0)) {
      const size = bytes.readInt32LE(0);
      socket.write(answer(bytes.subarray(0, size)));
      bytes = bytes.subarray(size);
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
