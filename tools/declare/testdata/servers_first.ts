// 596 tokens of 600
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const server0: Record<string, Tool>; // 8 tools
declare const server1: Record<string, Tool>; // 8 tools
declare const server2: Record<string, Tool>; // 8 tools
declare const server3: Record<string, Tool>; // 8 tools
declare const server4: Record<string, Tool>; // 8 tools
declare const server5: Record<string, Tool>; // 8 tools
declare const server6: Record<string, Tool>; // 8 tools
declare const server7: Record<string, Tool>; // 8 tools
declare const server8: Record<string, Tool>; // 8 tools
declare const server9: Record<string, Tool>; // 8 tools
declare const server10: Record<string, Tool>; // 8 tools
declare const server11: Record<string, Tool>; // 7 tools
declare const function0: Tool;
declare const function1: Tool;
declare const function2: Tool;
declare const function3: Tool;
declare const function4: Tool;
declare const function5: Tool;
declare const function6: Tool;
declare const function7: Tool;
declare const function8: Tool;
declare const function9: Tool;
declare const function10: Tool;
declare const function11: Tool;
declare const function12: Tool;
declare const function13: Tool;
declare const function14: Tool;
declare const function15: Tool;
declare const function16: Tool;
declare const function17: Tool;
declare const function18: Tool;
declare const function19: Tool;
declare const function20: Tool;
declare const function21: Tool;
declare const function22: Tool;
declare const function23: Tool;
declare const function24: Tool;
declare const function25: Tool;

// 300 tokens of 300
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const server0: Record<string, Tool>; // 8 tools
declare const server1: Record<string, Tool>; // 8 tools
declare const server2: Record<string, Tool>; // 8 tools
declare const server3: Record<string, Tool>; // 8 tools
declare const server4: Record<string, Tool>; // 8 tools
declare const server5: Record<string, Tool>; // 8 tools
declare const server6: Record<string, Tool>; // 8 tools
declare const server7: Record<string, Tool>; // 8 tools
declare const server8: Record<string, Tool>; // 8 tools
declare const server9: Record<string, Tool>; // 8 tools
declare const server10: Record<string, Tool>; // 8 tools
declare const server11: Record<string, Tool>; // 7 tools
// 26 functions without a server: function0, function1, function2, function3, function4, …

// 192 tokens of 200
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const server0: Record<string, Tool>; // 8 tools
declare const server1: Record<string, Tool>; // 8 tools
declare const server2: Record<string, Tool>; // 8 tools
declare const server3: Record<string, Tool>; // 8 tools
// 26 functions without a server: function0, function1, function2, function3, function4, …
// … and 8 more servers with 63 tools; tools.search(query) finds them

// 106 tokens of 90
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
// … and 12 more servers with 95 tools and 26 functions; tools.search(query) finds them

