declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const s: {
  /** Returns Block[] of type Content. */
  a(args?: {Block?: "Block[]"}): Promise<"Block[]"[]>;
};
declare function own(args?: object): Promise<unknown>;
