declare const my_server_2: {
  "read/file"(args?: object): Promise<string>;
};

declare const my_server_2: {
  "read-file"(args?: object): Promise<string>;
};

declare const my_server_2: {
  delete(args?: object): Promise<string>;
};

declare const my_server_2: {
  __proto___2(args?: object): Promise<string>;
};

declare const my_server_2: {
  constructor(args?: object): Promise<string>;
};

declare const my_server_2: {
  "123"(args?: object): Promise<string>;
};

declare const my_server_2: {
  日本(args?: object): Promise<string>;
};

declare const my_server_2: {
  "日本 語"(args?: object): Promise<string>;
};

declare const my_server_2: {
  "😀"(args?: object): Promise<string>;
};

declare const my_server_2: {
  "say \"hi\"\\"(args?: object): Promise<string>;
};

declare const my_server_2: {
  line_break(args?: object): Promise<string>;
};

declare const my_server_2: {
  line_separator(args?: object): Promise<string>;
};

declare const my_server_2: {
  _override(args?: object): Promise<string>;
};

declare const my_server_2: {
  bell_(args?: object): Promise<string>;
};

declare const my_server_2: {
  "\u0060\u0060\u0060 fence"(args?: object): Promise<string>;
};

declare const my_server_2: {
  "R\u0026D \u003cx\u003e"(args?: object): Promise<string>;
};

declare const console_: {
  log(args?: object): Promise<string>;
};

declare const my_server: {
  a(args?: {function?: string; $ref?: string; "x-y"?: string; __proto__?: string}): Promise<string>;
};

