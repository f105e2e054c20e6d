declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const s: {
  /** Goes deep. */
  deep(args?: {level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string /* The innermost text. */} /* Level 1. */} /* Level 2. */} /* Level 3. */} /* Level 4. */} /* Level 5. */}): Promise<{level6?: {level5?: {level4?: {level3?: {level2?: {level1?: string}}}}}}>;
};
/** Find documents. */
declare function find(args: {query: string /* ≥ 1 character. What to look for. */; sort?: ("asc" | "desc")[]; page?: {size?: number /* integer, 1–100, default 20 */}}): Promise<{id: string; score: number /* 0–1 */; owner: {name: {first: string; alias: {text: string}}} /* Who wrote it. */}[]>;
