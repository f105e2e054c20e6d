declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const s: {
  arrays(args?: {words?: ("a" | "b")[]; either?: (string | number)[]; nullable?: string | null; nullables?: (string | null)[]; both?: ({a?: string} & {b?: string})[]}): Promise<(string | null)[]>;
};
