// The TypeScript SDK, in its first version (all transports, sessions) and its
// second (stdio and HTTP, also without sessions).
//
//	node typescript.mjs v1|v2|v2-stateless stdio|http COMMAND-OR-URL [ARGUMENT…]
//
// Reads PROGRAM and TOKEN from the environment; prints what it was given as JSON.
const [version, kind, target, ...args] = process.argv.slice(2);
const requestInit = { headers: process.env.TOKEN ? { Authorization: `Bearer ${process.env.TOKEN}` } : {} };
const info = { name: "test", version: "1" };

async function v1() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  return { client: new Client(info), StdioClientTransport, StreamableHTTPClientTransport };
}

async function v2(mode) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return { client: new Client(info, { versionNegotiation: { mode } }), StdioClientTransport, StreamableHTTPClientTransport };
}

const library = { v1, v2: () => v2("legacy"), "v2-stateless": () => v2({ pin: "2026-07-28" }) }[version];
const { client, StdioClientTransport, StreamableHTTPClientTransport } = await library();
const transport = {
  stdio: () => new StdioClientTransport({ command: target, args }),
  http: () => new StreamableHTTPClientTransport(new URL(target), { requestInit }),
}[kind]();
await client.connect(transport);
const { tools } = await client.listTools();
const { content, structuredContent } = await client.callTool({ name: "execute_code", arguments: { code: process.env.PROGRAM } });
await client.close();
console.log(JSON.stringify({ tools, content, structuredContent }));
