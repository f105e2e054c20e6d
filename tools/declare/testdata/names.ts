declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const my_server_2: {
  read_file_2(args?: object): Promise<string>;
  read_file(args?: object): Promise<string>;
  delete(args?: object): Promise<string>;
  __proto___2(args?: object): Promise<string>;
  constructor(args?: object): Promise<string>;
  _123(args?: object): Promise<string>;
  日本(args?: object): Promise<string>;
  日本_語(args?: object): Promise<string>;
  _(args?: object): Promise<string>;
  say__hi__(args?: object): Promise<string>;
  line_break(args?: object): Promise<string>;
  line_separator(args?: object): Promise<string>;
  _override(args?: object): Promise<string>;
  bell_(args?: object): Promise<string>;
  ____fence(args?: object): Promise<string>;
  R_D__x_(args?: object): Promise<string>;
};
declare const console_: {
  log(args?: object): Promise<string>;
};
declare const my_server: {
  a(args?: {function?: string; $ref?: string; "x-y"?: string; __proto__?: string}): Promise<string>;
};
