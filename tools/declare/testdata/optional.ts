declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const s: {
  none(): Promise<unknown>;
  all_optional(args?: {a?: string}): Promise<unknown>;
  some_required(args: {a?: string; b: string}): Promise<unknown>;
  required_by_alternatives(args: object): Promise<unknown>;
  required_beside_alternatives(args: {a?: string; b?: string}): Promise<unknown>;
  no_schema(args?: object): Promise<unknown>;
  null_schema(args?: object): Promise<unknown>;
  true_schema(args?: object): Promise<unknown>;
  empty_schema(args?: object): Promise<unknown>;
  broken_schema(args?: object): Promise<unknown>;
  null_output(args?: object): Promise<string | Content>;
};
