// 335 tokens
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string /* The innermost text. */} /* Level 1. */} /* Level 2. */} /* Level 3. */} /* Level 4. */} /* Level 5. */}): Promise<{level6?: {level5?: {level4?: object /* Level 3. */} /* Level 4. */} /* Level 5. */}>;
};
/** Find documents. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: object}} /* Who wrote it. */}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Block[]>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 321 tokens
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string /* The innermost text. */} /* Level 1. */} /* Level 2. */} /* Level 3. */} /* Level 4. */} /* Level 5. */}): Promise<{level6?: {level5?: object /* Level 4. */} /* Level 5. */}>;
};
/** Find documents. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: object} /* Who wrote it. */}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Block[]>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 235 tokens
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: object}}}}): Promise<{level6?: {level5?: object}}>;
};
/** Find documents. */
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size: number}}): Promise<{id: string; score: number; owner: {name: object}}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number}): Promise<string | Block[]>;
  /** List a directory. */
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 224 tokens
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: object}}): Promise<{level6?: object}>;
};
/** Find documents. */
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: {size: number}}): Promise<{id: string; score: number; owner: object}[]>;
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number}): Promise<string | Block[]>;
  /** List a directory. */
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

// 190 tokens
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  deep(args?: {level6?: object}): Promise<{level6?: object}>;
};
declare function find(args: {query: string; sort?: ("asc" | "desc")[]; page?: object}): Promise<{id: string; score: number; owner: object}[]>;
declare const fs: {
  read_file(args: {path: string; head?: number}): Promise<string | Block[]>;
  list(args?: {path?: string}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};

