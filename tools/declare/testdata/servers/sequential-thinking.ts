declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns whole declarations
declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const sequential_thinking: {
  /** A detailed tool for dynamic and reflective problem-solving through thoughts. - You can add more thoughts even after reaching what seemed like the end */
  sequentialthinking(args: {thought: string; nextThoughtNeeded: boolean | string; thoughtNumber: number /* integer, ≥ 1. Current thought number (numeric value, e.g., 1, 2, 3) */; totalThoughts: number /* integer, ≥ 1. Estimated total thoughts needed (numeric value, e.g., 5, 10) */; isRevision?: boolean | string; revisesThought?: number /* integer, ≥ 1 */; branchFromThought?: number /* integer, ≥ 1 */; branchId?: string; needsMoreThoughts?: boolean | string}): Promise<{nextThoughtNeeded: boolean; branches: string[]; thoughtHistoryLength: number}>;
};
