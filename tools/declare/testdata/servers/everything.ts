declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const everything: {
  /** Echoes back the input string */
  echo(args: {message: string}): Promise<string | Content>;
  /** Demonstrates how annotations can be used to provide metadata about content. */
  get_annotated_message(args: {messageType: "error" | "success" | "debug"; includeImage?: boolean}): Promise<string | Content>;
  /** Returns all environment variables, helpful for debugging MCP server configuration */
  get_env(args?: Record<string, unknown>): Promise<string | Content>;
  /** Returns up to ten resource links that reference different types of resources */
  get_resource_links(args?: {count?: number /* default 3 */}): Promise<string | Content>;
  /** Returns a resource reference that can be used by MCP clients */
  get_resource_reference(args?: {resourceType?: "Text" | "Blob" /* default "Text" */; resourceId?: number /* default 1 */}): Promise<string | Content>;
  /** Returns structured content along with an output schema for client data validation */
  get_structured_content(args: {location: "New York" | "Chicago" | "Los Angeles"}): Promise<{temperature: number; conditions: string; humidity: number}>;
  /** Returns the sum of two numbers */
  get_sum(args: {a: number; b: number}): Promise<string | Content>;
  /** Returns a tiny MCP logo image. */
  get_tiny_image(args?: Record<string, unknown>): Promise<string | Content>;
  /** Compresses a single file using gzip compression. Depending upon the selected output type, returns either the compressed data as a gzipped resource or a resource link, allowing it to be downloaded in a subsequent request during the current session. */
  gzip_file_as_resource(args?: {name?: string /* default "README.md.gz" */; data?: string; outputType?: "resourceLink" | "resource" /* default "resourceLink" */}): Promise<string | Content>;
  /** Toggles simulated, random-leveled logging on or off. */
  toggle_simulated_logging(args?: Record<string, unknown>): Promise<string | Content>;
  /** Toggles simulated resource subscription updates on or off. */
  toggle_subscriber_updates(args?: Record<string, unknown>): Promise<string | Content>;
  /** Demonstrates a long running operation with progress updates. */
  trigger_long_running_operation(args?: {duration?: number /* default 10 */; steps?: number /* default 5 */}): Promise<string | Content>;
};
