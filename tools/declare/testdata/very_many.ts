declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const server25: Record<string, Tool>; // 667 tools
declare const server100: Record<string, Tool>; // 666 tools
declare const server0: Record<string, Tool>; // 334 tools
declare const server225: Record<string, Tool>; // 333 tools
declare const server4: Record<string, Tool>; // 267 tools
// 1 function without a server: find
// … and 39 more servers with 7733 tools; tools.search(query) finds them
