declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
declare const my_server_2: {
  "read/file"(args?: object): Promise<string>;
  "read-file"(args?: object): Promise<string>;
  delete(args?: object): Promise<string>;
  __proto___2(args?: object): Promise<string>;
  constructor(args?: object): Promise<string>;
  "123"(args?: object): Promise<string>;
  日本(args?: object): Promise<string>;
  "日本 語"(args?: object): Promise<string>;
  "😀"(args?: object): Promise<string>;
  "say \"hi\"\\"(args?: object): Promise<string>;
  line_break(args?: object): Promise<string>;
  line_separator(args?: object): Promise<string>;
  _override(args?: object): Promise<string>;
  bell_(args?: object): Promise<string>;
  "\u0060\u0060\u0060 fence"(args?: object): Promise<string>;
  "R\u0026D \u003cx\u003e"(args?: object): Promise<string>;
};
declare const console_: {
  log(args?: object): Promise<string>;
};
declare const my_server: {
  a(args?: {function?: string; $ref?: string; "x-y"?: string; __proto__?: string}): Promise<string>;
};
