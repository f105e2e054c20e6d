// An MCP server whose tools fill the description of execute_code with their
// declarations.
//
//	node wide.mjs NOUN…
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const verbs = ["find", "list", "read", "write", "move", "copy", "count", "delete"];
const inputSchema = {
  type: "object",
  properties: {
    name: { type: "string", description: "The beginning of the name." },
    limit: { type: "integer", description: "The maximum number of results." },
  },
  required: ["name"],
};
const tools = process.argv.slice(2).flatMap(noun => verbs.map(verb => ({
  name: `${verb}_${noun}`, description: `Call it to ${verb} the ${noun} of a customer by name.`, inputSchema,
})));
const server = new Server({ name: "wide", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({ content: [{ type: "text", text: params.name }] }));
await server.connect(new StdioServerTransport());
