declare const s: {
  /** Returns Block[] of type Content. */
  a(args?: {Block?: "Block[]"}): Promise<"Block[]"[]>;
};

declare function own(args?: object): Promise<unknown>;

