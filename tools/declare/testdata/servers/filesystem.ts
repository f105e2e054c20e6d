declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns whole declarations
declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const filesystem: {
  /** Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead. */
  read_file(args: {path: string; tail?: number /* If provided, returns only the last N lines of the file */; head?: number /* If provided, returns only the first N lines of the file */}): Promise<{content: string}>;
  /** Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Only works within allowed directories. */
  read_text_file(args: {path: string; tail?: number; head?: number}): Promise<{content: string}>;
  /** Read a file and return it as a base64-encoded content block with its MIME type. */
  read_media_file(args: {path: string}): Promise<{content: ({type: "image" | "audio"; data: string; mimeType: string} | {type: "resource"; resource: object})[]}>;
  /** Read the contents of multiple files simultaneously. Each file's content is returned with its path as a reference. */
  read_multiple_files(args: {paths: string[] /* Each path must be a string pointing to a valid file within allowed directories. */}): Promise<{content: string}>;
  /** Create a new file or completely overwrite an existing file with new content. Handles text content with proper encoding. */
  write_file(args: {path: string; content: string}): Promise<{content: string}>;
  /** Make line-based edits to a text file. Each edit replaces exact line sequences with new content. */
  edit_file(args: {path: string; edits: {oldText: string /* Text to search for - must match exactly */; newText: string /* Text to replace with */}[]; dryRun?: boolean /* Preview changes using git-style diff format */}): Promise<{content: string}>;
  /** Create a new directory or ensure a directory exists. Perfect for setting up directory structures for projects or ensuring required paths exist. */
  create_directory(args: {path: string}): Promise<{content: string}>;
  /** Get a detailed listing of all files and directories in a specified path. */
  list_directory(args: {path: string}): Promise<{content: string}>;
  /** Get a detailed listing of all files and directories in a specified path, including sizes. */
  list_directory_with_sizes(args: {path: string; sortBy?: "name" | "size" /* default "name". Sort entries by name or size */}): Promise<{content: string}>;
  /** Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. */
  directory_tree(args: {path: string; excludePatterns?: string[]}): Promise<{content: string}>;
  /** Move or rename files and directories. Both source and destination must be within allowed directories. */
  move_file(args: {source: string; destination: string}): Promise<{content: string}>;
  /** Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Only searches within allowed directories. */
  search_files(args: {path: string; pattern: string; excludePatterns?: string[]}): Promise<{content: string}>;
  /** Retrieve detailed metadata about a file or directory. */
  get_file_info(args: {path: string}): Promise<{content: string}>;
  /** Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. */
  list_allowed_directories(args?: Record<string, unknown>): Promise<{content: string}>;
};
