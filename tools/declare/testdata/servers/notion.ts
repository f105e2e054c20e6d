declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns whole declarations
declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
type Content = Block[] /* if not all of it is text */ | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;
type Block = {type: "text"; text: string} | {type: "image" | "audio"; data: string /* base64 */; mimeType: string} | {type: "resource_link"; uri: string; name: string} | {type: "resource"; resource: {uri: string; text?: string; blob?: string}};
declare const notion: {
  /** Notion | Retrieve a user; Error Responses: 400: 400 */
  API_get_user(args: {user_id: string /* uuid */}): Promise<string | Content>;
  /** Notion | List all users */
  API_get_users(args?: {start_cursor?: string; page_size?: number /* integer, default 100. Maximum: 100 */}): Promise<string | Content>;
  /** Notion | Retrieve your token's bot user; 400: Bad request */
  API_get_self(args?: Record<string, unknown>): Promise<string | Content>;
  /** Notion | Search by title */
  API_post_search(args?: {query?: string; sort?: {direction?: string /* Possible values include `ascending` and `descending`. */; timestamp?: string /* The name of the timestamp to sort against. Possible values include `last_edited_time`. */} | string; filter?: {value?: "page" | "data_source" /* Possible values for object type include `page` or `data_source`. **Limitation**: Currently the only filter allowed is `object` which will filter by type of object (either `page` or `data_source`) */; property?: string /* Possible values include `object`. Limitation: Currently the only filter allowed is `object` which will filter by type of object (either `page` or `data_source`) */} | string; start_cursor?: string /* A `cursor` value returned in a previous response that If supplied, limits the response to results starting after the `cursor`. */; page_size?: number /* integer, int32, default 100. Maximum: `100`. */}): Promise<string | Content>;
  /** Notion | Retrieve block children */
  API_get_block_children(args: {block_id: string /* Identifier for a [block](ref:block) */; start_cursor?: string; page_size?: number /* integer, int32, default 100 */}): Promise<string | Content>;
  /** Notion | Append block children */
  API_patch_block_children(args: {block_id: string /* Identifier for a [block](ref:block). */; children: ({paragraph?: {rich_text: {text: {content: string; link?: Record<string, unknown> | null}; type?: "text"}[]}; type?: "paragraph"} | {bulleted_list_item?: {rich_text: {text: {content: string; link?: Record<string, unknown> | null}; type?: "text"}[]}; type?: "bulleted_list_item"} | string | Record<string, unknown>)[]; after?: string}): Promise<string | Content>;
  /** Notion | Retrieve a block */
  API_retrieve_a_block(args: {block_id: string /* Identifier for a Notion block */}): Promise<string | Content>;
  /** Notion | Update a block */
  API_update_a_block(args: {block_id: string; type?: Record<string, unknown> | string; archived?: boolean /* default true. Set to true to archive (delete) a block. */}): Promise<string | Content>;
  /** Notion | Delete a block */
  API_delete_a_block(args: {block_id: string}): Promise<string | Content>;
  /** Notion | Retrieve a page */
  API_retrieve_a_page(args: {page_id: string /* Identifier for a Notion page */; filter_properties?: string /* For example: `?filter_properties=iAk8&filter_properties=b7dh`. */}): Promise<string | Content>;
  /** Notion | Update page properties */
  API_patch_page(args: {page_id: string /* The identifier for the Notion page to be updated. */; properties?: Record<string, unknown> | string; in_trash?: boolean /* Set to true to delete a block. */; archived?: boolean; icon?: {emoji: string} | string; cover?: {external: {url: string}; type?: "external"} | string}): Promise<string | Content>;
  /** Notion | Create a page */
  API_post_page(args: {parent: {page_id: string /* uuid */} | {type?: "database_id"; database_id: string /* uuid */} | {type: "workspace"} | string; properties: Record<string, unknown> | string; children?: (string | Record<string, unknown>)[] /* The content to be rendered on the new page, represented as an array of [block objects](https://developers.notion.com/reference/block). */; icon?: string /* json. Either an [emoji object](https://developers.notion.com/reference/emoji-object) or an [external file object](https://developers.notion.com/reference/file-object).. */; cover?: string /* json. The cover image of the new page, represented as a [file object](https://developers.notion.com/reference/file-object). */}): Promise<string | Content>;
  /** Notion | Retrieve a page property item */
  API_retrieve_a_page_property(args: {page_id: string; property_id: string /* Identifier for a page [property](https://developers.notion.com/reference/page#all-property-values) */; page_size?: number /* integer, int32. The max number of property item objects on a page. */; start_cursor?: string /* For paginated properties. */}): Promise<string | Content>;
  /** Notion | Retrieve comments */
  API_retrieve_a_comment(args: {block_id: string /* Identifier for a Notion block or page */; start_cursor?: string; page_size?: number /* integer, int32 */}): Promise<string | Content>;
  /** Notion | Create comment */
  API_create_a_comment(args: {parent: {page_id: string /* the page ID */} | string; rich_text: ({text: {content: string /* The content of the comment */}} | string | Record<string, unknown>)[]}): Promise<string | Content>;
  /** Notion | Query a data source */
  API_query_data_source(args: {data_source_id: string /* Identifier for a Notion data source (database) */; filter_properties?: (string | Record<string, unknown>)[] /* A list of page property value IDs to limit the response */; filter?: Record<string, unknown> | string; sorts?: ({property: string; direction: "ascending" | "descending"} | string | Record<string, unknown>)[]; start_cursor?: string; page_size?: number /* integer, default 100 */; archived?: boolean; in_trash?: boolean}): Promise<string | Content>;
  /** Notion | Retrieve a data source */
  API_retrieve_a_data_source(args: {data_source_id: string /* Identifier for a Notion data source */}): Promise<string | Content>;
  /** Notion | Update a data source */
  API_update_a_data_source(args: {data_source_id: string; title?: ({text: {content: string; link?: Record<string, unknown> | null}; type?: "text"} | string | Record<string, unknown>)[]; description?: ({text: {content: string; link?: Record<string, unknown> | null}; type?: "text"} | string | Record<string, unknown>)[]; properties?: Record<string, unknown> | string}): Promise<string | Content>;
  /** Notion | Create a data source */
  API_create_a_data_source(args: {parent: {page_id: string} | string; properties: Record<string, unknown> | string; title?: ({text: {content: string; link?: Record<string, unknown> | null}; type?: "text"} | string | Record<string, unknown>)[]}): Promise<string | Content>;
  /** Notion | List templates in a data source */
  API_list_data_source_templates(args: {data_source_id: string; start_cursor?: string; page_size?: number}): Promise<string | Content>;
  /** Notion | Retrieve a database */
  API_retrieve_a_database(args: {database_id: string /* Identifier for a Notion database */}): Promise<string | Content>;
  /** Notion | Move a page */
  API_move_page(args: {page_id: string /* uuid */; parent: {type: "page_id"; page_id: string} | {type: "database_id"; database_id: string} | {type: "workspace"} | string}): Promise<string | Content>;
  /** Notion | Retrieve a page as Markdown; 403: The integration lacks the read/update content capability required for this page. */
  API_retrieve_page_markdown(args: {page_id: string /* uuid */; include_transcript?: boolean /* Whether to include meeting note transcripts. */}): Promise<string | Content>;
  /** Notion | Update a page's content as Markdown; 409: Conflict (e.g. row limit exceeded). 429: Rate limited. */
  API_update_page_markdown(args: {page_id: string; type: "replace_content" | "update_content" | "insert_content" | "replace_content_range" /* Prefer `replace_content` (overwrite the whole page) or `update_content` (targeted find-and-replace). `insert_content` and `replace_content_range` are deprecated. */; replace_content?: {new_str: string /* The complete new page content as enhanced Markdown. */; allow_deleting_content?: boolean} | string; update_content?: {content_updates: {old_str: string /* Exact existing Markdown text to find. */; new_str: string /* Replacement Markdown text. */; replace_all_matches?: boolean}[] /* Up to 100 find-and-replace edits applied in order. */; allow_deleting_content?: boolean} | string; insert_content?: {content: string /* Enhanced Markdown to insert. */; after?: string /* Ellipsis-format selection ("start text...end text") to insert after. Cannot be combined with position. */; position?: {type?: "start" | "end"} /* Insert at the start or end of the page. Cannot be combined with after. */} | string; replace_content_range?: {content: string /* New Markdown content for the range. */; content_range: string /* Ellipsis-format selection ("start text...end text") identifying the range to replace. */; allow_deleting_content?: boolean} | string}): Promise<string | Content>;
};
