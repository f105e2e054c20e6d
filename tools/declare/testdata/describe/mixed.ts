declare function now(): Promise<string>;

declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
};

/** Find documents. Best hits first. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;

declare const git: {
  log(args?: object): Promise<string | Content>;
};

declare const fs: {
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
};

