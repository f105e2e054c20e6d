declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
/** Find documents. Best hits first. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;
declare function now(): Promise<string>;
/** Whatever comes. */
declare function free(): Promise<unknown>;
/** Anything goes. */
declare function raw(args?: object): Promise<unknown>;
