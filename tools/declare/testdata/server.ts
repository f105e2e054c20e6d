declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
  roots(): Promise<{content: string}>;
};
