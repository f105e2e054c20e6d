declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns whole declarations
declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const playwright: {
  /** Close the page */
  browser_close(): Promise<string | Content>;
  /** Resize the browser window */
  browser_resize(args: {width: number /* Width of the browser window */; height: number /* Height of the browser window */}): Promise<string | Content>;
  /** Returns all console messages */
  browser_console_messages(args: {level: "error" | "warning" | "info" | "debug" /* default "info". Level of the console messages to return. Defaults to "info". */; all?: boolean /* Defaults to false. */; filename?: string /* Relative file names are resolved against the workspace root. */}): Promise<string | Content>;
  /** Handle a dialog */
  browser_handle_dialog(args: {accept: boolean /* Whether to accept the dialog. */; promptText?: string /* The text of the prompt in case of a prompt dialog. */}): Promise<string | Content>;
  /** Emulate CSS media features for the page, for example switch between the light and dark color scheme. */
  browser_emulate_media(args?: {colorScheme?: "light" | "dark" | null /* Emulates the prefers-color-scheme media feature */; reducedMotion?: "reduce" | "no-preference" | null /* Emulates the prefers-reduced-motion media feature */; forcedColors?: "active" | "none" | null /* Emulates the forced-colors media feature */; contrast?: "more" | "no-preference" | null /* Emulates the prefers-contrast media feature */; media?: "screen" | "print" | null /* Changes the CSS media type of the page */}): Promise<string | Content>;
  /** Evaluate JavaScript expression on page or element */
  browser_evaluate(args: {element?: string; target?: string; function: string; filename?: string /* File name to save the result to. */}): Promise<string | Content>;
  /** Upload one or multiple files */
  browser_file_upload(args?: {paths?: string[] /* The absolute paths to the files to upload. */}): Promise<string | Content>;
  /** Drop files or MIME-typed data onto an element, as if dragged from outside the page. At least one of "paths" or "data" must be provided. */
  browser_drop(args: {element?: string; target: string; paths?: string[] /* Absolute paths to files to drop onto the element. */; data?: Record<string, string> /* Data to drop, as a map of MIME type to string value (e.g. {"text/plain": "hello", "text/uri-list": "https://example.com"}). */}): Promise<string | Content>;
  /** Search the accessibility snapshot of the current page for text or a regular expression. */
  browser_find(args?: {text?: string /* Provide either text or regex, not both. */; regex?: string /* Matching is case-sensitive by default; wrap the pattern in slashes to add flags, e.g. "/error/i" for case-insensitive. Provide either text or regex, not both. */; filename?: string}): Promise<string | Content>;
  /** Fill multiple form fields */
  browser_fill_form(args: {fields: {element?: string; target: string; name: string /* Human-readable field name */; type: "textbox" | "checkbox" | "radio" | "combobox" | "slider" /* Type of the field */; value: string /* If the field is a checkbox, the value should be `true` or `false`. */}[] /* Fields to fill in */}): Promise<string | Content>;
  /** Press a key on the keyboard */
  browser_press_key(args: {key: string /* Name of the key to press or a character to generate, such as `ArrowLeft` or `a` */}): Promise<string | Content>;
  /** Type text into editable element */
  browser_type(args: {element?: string; target: string; text: string /* Text to type into the element */; submit?: boolean /* Whether to submit entered text (press Enter after) */; slowly?: boolean /* Whether to type one character at a time. */}): Promise<string | Content>;
  /** Navigate to a URL */
  browser_navigate(args: {url: string /* The URL to navigate to */}): Promise<string | Content>;
  /** Go back to the previous page in the history */
  browser_navigate_back(): Promise<string | Content>;
  /** Returns a numbered list of network requests since loading the page. */
  browser_network_requests(args: {static: boolean /* Whether to include successful static resources like images, fonts, scripts, etc. Defaults to false. */; filter?: string /* Only return requests whose URL matches this regexp (e.g. "/api/.*user"). */; filename?: string /* File name to save the network requests to. */}): Promise<string | Content>;
  /** Returns full details (headers and body) of a single network request, or a single part if `part` is set. */
  browser_network_request(args: {index: number /* integer, ≥ 1. 1-based index of the request, as printed by browser_network_requests. */; part?: "request-headers" | "request-body" | "response-headers" | "response-body" /* Return only this part of the request. */; filename?: string /* If not provided, output is returned as text. */}): Promise<string | Content>;
  /** Run a Playwright code snippet. */
  browser_run_code_unsafe(args?: {code?: string /* For example: `async (page) => { await page.getByRole('button', { name: 'Submit' }).click(); return await page.title(); }` */; filename?: string /* Load code from the specified file. */}): Promise<string | Content>;
  /** Take a screenshot of the current page. */
  browser_take_screenshot(args: {element?: string; target?: string; type?: "png" | "jpeg" | "webp" /* Image format for the screenshot. */; filename?: string /* If not specified, the screenshot is saved into the output directory as `page-{timestamp}.{png|jpeg|webp}`. */; fullPage?: boolean /* Cannot be used with element screenshots. */; scale: "css" | "device" /* default "css". "css" produces a screenshot sized in CSS pixels (smaller, consistent across devices). "device" produces a high-resolution screenshot using device pixels (larger, accounts for the device pixel ratio). */}): Promise<string | Content>;
  /** Capture accessibility snapshot of the current page, this is better than screenshot */
  browser_snapshot(args?: {target?: string; filename?: string; depth?: number /* Limit the depth of the snapshot tree */; boxes?: boolean /* Coordinates are viewport-relative, in CSS pixels (Element.getBoundingClientRect) */}): Promise<string | Content>;
  /** Perform click on a web page */
  browser_click(args: {element?: string; target: string; doubleClick?: boolean /* Whether to perform a double click instead of a single click */; button?: "left" | "right" | "middle" /* Button to click, defaults to left */; modifiers?: ("Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift")[] /* Modifier keys to press */}): Promise<string | Content>;
  /** Perform drag and drop between two elements */
  browser_drag(args: {startElement?: string; startTarget: string; endElement?: string; endTarget: string}): Promise<string | Content>;
  /** Hover over element on page */
  browser_hover(args: {element?: string; target: string}): Promise<string | Content>;
  /** Select an option in a dropdown */
  browser_select_option(args: {element?: string; target: string; values: string[] /* Array of values to select in the dropdown. */}): Promise<string | Content>;
  /** List, create, close, or select a browser tab. */
  browser_tabs(args: {action: "list" | "new" | "close" | "select" /* Operation to perform */; index?: number /* Tab index, used for close/select. */; url?: string /* URL to navigate to in the new tab, used for new. */}): Promise<string | Content>;
  /** Wait for text to appear or disappear or a specified time to pass */
  browser_wait_for(args?: {time?: number /* The time to wait in seconds, at most 30 */; text?: string /* The text to wait for */; textGone?: string /* The text to wait for to disappear */}): Promise<string | Content>;
};
