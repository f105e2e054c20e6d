declare function now(): Promise<string>;

type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
};

/** Find documents. Best hits first. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;

type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const git: {
  log(args?: object): Promise<string | Content>;
};

declare const fs: {
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
};

