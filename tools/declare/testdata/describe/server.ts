type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
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

