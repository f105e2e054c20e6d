// The AI SDK: generateText with the server's tools, and a model that calls one of
// them.
//
//	node ai.mjs stdio|http|sse COMMAND-OR-URL [ARGUMENT…]
//
// Reads PROGRAM and TOKEN from the environment; prints what it was given as JSON.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const [kind, target, ...args] = process.argv.slice(2);
const headers = process.env.TOKEN ? { Authorization: `Bearer ${process.env.TOKEN}` } : {};
const transport = kind === "stdio" ? new Stdio({ command: target, args }) : { type: kind, url: target, headers };
const client = await createMCPClient({ transport });
const tools = await client.tools();
const tokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined, text: 1, reasoning: undefined };
const model = new MockLanguageModelV4({
  doGenerate: async () => ({
    content: [{ type: "tool-call", toolCallId: "1", toolName: "execute_code", input: JSON.stringify({ code: process.env.PROGRAM }) }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: { inputTokens: tokens, outputTokens: tokens },
    warnings: [],
  }),
});
const { toolResults } = await generateText({ model, tools, prompt: "Run the program." });
await client.close();
console.log(JSON.stringify({ tools: Object.keys(tools), structuredContent: toolResults[0].output.structuredContent }));
