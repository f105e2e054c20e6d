declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
declare const memory: {
  /** Create multiple new entities in the knowledge graph */
  create_entities(args: {entities: {name: string /* The name of the entity */; entityType: string /* The type of the entity */; observations: string[] /* An array of observation contents associated with the entity */}[]}): Promise<{entities: {name: string; entityType: string; observations: string[]}[]}>;
  /** Create multiple new relations between entities in the knowledge graph. Relations should be in active voice */
  create_relations(args: {relations: {from: string /* The name of the entity where the relation starts */; to: string /* The name of the entity where the relation ends */; relationType: string /* The type of the relation */}[]}): Promise<{relations: {from: string; to: string; relationType: string}[]}>;
  /** Add new observations to existing entities in the knowledge graph */
  add_observations(args: {observations: {entityName: string /* The name of the entity to add the observations to */; contents: string[] /* An array of observation contents to add */}[]}): Promise<{results: {entityName: string; addedObservations: string[]}[]}>;
  /** Delete multiple entities and their associated relations from the knowledge graph */
  delete_entities(args: {entityNames: string[] /* An array of entity names to delete */}): Promise<{success: boolean; message: string}>;
  /** Delete specific observations from entities in the knowledge graph */
  delete_observations(args: {deletions: {entityName: string /* The name of the entity containing the observations */; observations: string[] /* An array of observations to delete */}[]}): Promise<{success: boolean; message: string}>;
  /** Delete multiple relations from the knowledge graph */
  delete_relations(args: {relations: {from: string; to: string; relationType: string}[] /* An array of relations to delete */}): Promise<{success: boolean; message: string}>;
  /** Read the entire knowledge graph */
  read_graph(args?: Record<string, unknown>): Promise<{entities: {name: string; entityType: string; observations: string[]}[]; relations: {from: string; to: string; relationType: string}[]}>;
  /** Search for nodes in the knowledge graph based on a query */
  search_nodes(args: {query: string /* The search query to match against entity names, types, and observation content */}): Promise<{entities: {name: string; entityType: string; observations: string[]}[]; relations: {from: string; to: string; relationType: string}[]}>;
  /** Open specific nodes in the knowledge graph by their names */
  open_nodes(args: {names: string[] /* An array of entity names to retrieve */}): Promise<{entities: {name: string; entityType: string; observations: string[]}[]; relations: {from: string; to: string; relationType: string}[]}>;
};
