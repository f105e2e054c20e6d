// The AI SDK: generateText with the server's tools, and a model that calls one of
// them.
//
//	node ai.mjs stdio|http COMMAND-OR-URL [ARGUMENT…]
//
// Reads PROGRAM and TOKEN from the environment; prints what the model got, and the
// structured content, as JSON.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const [kind, target, ...args] = process.argv.slice(2);
const headers = process.env.TOKEN ? { Authorization: `Bearer ${process.env.TOKEN}` } : {};
const transport = kind === "stdio" ? new Stdio({ command: target, args }) : { type: kind, url: target, headers };
const client = await createMCPClient({ transport });
const tools = await client.tools();
const tokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined, text: 1, reasoning: undefined };
const usage = { inputTokens: tokens, outputTokens: tokens };
const call = { type: "tool-call", toolCallId: "1", toolName: "execute_code", input: JSON.stringify({ code: process.env.PROGRAM }) };
const requests = [];
const model = new MockLanguageModelV4({
  doGenerate: async request => requests.push(request) === 1
    ? { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] }
    : { content: [{ type: "text", text: "Done." }], finishReason: { unified: "stop" }, usage, warnings: [] },
});
const { steps } = await generateText({ model, tools, prompt: "Run the program.", stopWhen: isStepCount(2) });
await client.close();
const [result] = requests[1].prompt.at(-1).content;
const content = result.output.value.map(part => part.type === "file" ? { type: "image", data: part.data.data } : part);
const { structuredContent } = steps[0].toolResults[0].output;
console.log(JSON.stringify({ tools: requests[0].tools, content, structuredContent }));
