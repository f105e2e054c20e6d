declare const fs: {
  /** Read a file as text. */
  read_file(args: {path: string; head?: number /* integer, ≥ 1 */}): Promise<string | Content>;
};

declare const fs: {
  /** List a directory. */
  list(args?: {path?: string /* default "." */}): Promise<string[]>;
};

declare const fs: {
  roots(): Promise<{content: string}>;
};

