declare const s: {
  none(): Promise<unknown>;
};

declare const s: {
  all_optional(args?: {a?: string}): Promise<unknown>;
};

declare const s: {
  some_required(args: {a?: string; b: string}): Promise<unknown>;
};

declare const s: {
  required_by_alternatives(args: object): Promise<unknown>;
};

declare const s: {
  required_beside_alternatives(args: {a?: string; b?: string}): Promise<unknown>;
};

declare const s: {
  no_schema(args?: object): Promise<unknown>;
};

declare const s: {
  null_schema(args?: object): Promise<unknown>;
};

declare const s: {
  true_schema(args?: object): Promise<unknown>;
};

declare const s: {
  empty_schema(args?: object): Promise<unknown>;
};

declare const s: {
  broken_schema(args?: object): Promise<unknown>;
};

declare const s: {
  null_output(args?: object): Promise<string | Content>;
};

