declare const s: {
  /** Returns Block[] of type Block. */
  a(args?: {Block?: "Block[]"}): Promise<"Block[]"[]>;
};

declare function own(args?: object): Promise<unknown>;

