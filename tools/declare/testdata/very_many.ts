declare const tools: { search(query: string, options?: {server?: string; limit?: number}): Promise<{name: string; description: string}[]>; describe(name: string): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const find: Tool;
declare const server25: Record<string, Tool>; // 667 tools
declare const server100: Record<string, Tool>; // 666 tools
declare const server0: Record<string, Tool>; // 334 tools
declare const server225: Record<string, Tool>; // 333 tools
declare const server4: Record<string, Tool>; // 267 tools
declare const server64: Record<string, Tool>; // 267 tools
// … and 38 more, with 7466 tools
