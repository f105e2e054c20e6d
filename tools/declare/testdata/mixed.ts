declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare function now(): Promise<string>;
/** Find documents. Best hits first. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
};
declare const git: {
  log(args?: object): Promise<string | Content>;
};
