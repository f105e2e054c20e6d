// 439 tokens
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string /* The innermost text. */} /* Level 1. */} /* Level 2. */} /* Level 3. */} /* Level 4. */} /* Level 5. */}): Promise<{level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string}}}}}}>;
};
/** Find documents. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 415 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns what is left out here of a tool
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string}}}}}}): Promise<{level6?: {level5?: object}}>;
};
/** Find documents. */
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number; owner: {name: object}}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 391 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns what is left out here of a tool
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string}}}}}}): Promise<{level6?: {level5?: object}}>;
};
/** Find documents. */
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size?: number}}): Promise<{id: string; score: number; owner: {name: object}}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 374 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns what is left out here of a tool
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: object}}}}): Promise<{level6?: object}>;
};
/** Find documents. */
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size?: number}}): Promise<{id: string; score: number; owner: object}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 334 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns what is left out here of a tool
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  deep(args?: {level6?: {level5?: object}}): Promise<{level6?: object}>;
};
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size?: number}}): Promise<{id: string; score: number; owner: object}[]>;
declare const fs: {
  read_file(args: {path: string; head?: number}): Promise<string | Content>;
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 325 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns what is left out here of a tool
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  deep(args?: {level6?: object}): Promise<Record<string, unknown>>;
};
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: object}): Promise<{id: string; score: number; owner: object}[]>;
declare const fs: {
  read_file(args: {path: string; head?: number}): Promise<string | Content>;
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 278 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const s: {
  deep: Tool; // Goes deep.
};
declare const find: Tool; // Find documents.
declare const fs: {
  read_file: Tool; // Read a file as text.
  list: Tool; // List a directory.
  roots: Tool;
};

// 257 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const s: {
  deep: Tool;
};
declare const find: Tool;
declare const fs: {
  read_file: Tool;
  list: Tool;
  roots: Tool;
};

// 117 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
declare const fs: Record<string, Tool>; // 3 tools
declare const s: Record<string, Tool>; // 1 tool
declare const find: Tool;

// 106 tokens
declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };
type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration
// … and 2 more servers with 4 tools and 1 function; tools.search(query) finds them

