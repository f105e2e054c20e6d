declare const my_server_2: {
  read_file_2(args?: object): Promise<string>;
};

declare const my_server_2: {
  read_file(args?: object): Promise<string>;
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
  _123(args?: object): Promise<string>;
};

declare const my_server_2: {
  日本(args?: object): Promise<string>;
};

declare const my_server_2: {
  日本_語(args?: object): Promise<string>;
};

declare const my_server_2: {
  _(args?: object): Promise<string>;
};

declare const my_server_2: {
  say__hi__(args?: object): Promise<string>;
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
  ____fence(args?: object): Promise<string>;
};

declare const my_server_2: {
  R_D__x_(args?: object): Promise<string>;
};

declare const console_: {
  log(args?: object): Promise<string>;
};

declare const my_server: {
  a(args?: {function?: string; $ref?: string; "x-y"?: string; __proto__?: string}): Promise<string>;
};

