// Limits of the protocols by which the answers can be had besides the API's own requests.

/** Limits of MCP, in addition to those of the routes that its tools call. */
export const mcpLimits = {
  /** One call, with arguments as long as an address may be. */
  requestBytes: 65_536,
  /** Rows of a list; few, as a model's user pays for every word it reads. */
  rows: { fallback: 10, maximum: 50 },
  /** Bytes of a tool's result, which is sent twice, as text and as structured content. */
  answerBytes: 524_288,
} as const

export const graphqlLimits = {
  requestBytes: 20_000,
  /** Tokens of a document; GraphiQL's introspection query has 500. */
  tokens: 2_000,
  /** Operations and fragments of a document, their fields, objects as arguments, and comparisons of fields that may be one. */
  definitions: 40,
  fields: 2_000,
  objects: 100,
  overlaps: 10_000,
  /** Rows of one connection; each has to say how many it wants. */
  pageSize: 100,
  /** Largest `offset`, in rows; rows beyond it are reached by cursor. */
  offset: 10_000,
  /** Cost of a query: fields its answer would hold if every page were full, plus what has to be scanned for them. */
  cost: 20_000,
  /** Fields that the answer to an introspection query may hold, with lists taken to have their usual length. */
  introspectionCost: 1_000_000,
  /** Depth of nested selections; introspection needs more, for `ofType` of lists of required types. */
  depth: 10,
  introspectionDepth: 16,
  /** Timeouts of planning and of executing an operation, in milliseconds. */
  timeouts: { planning: 1_000, execution: 5_000 },
  /** Timeout of one SQL statement, and of the wait for a connection, in milliseconds. */
  statementMs: 2_000,
  /** The same of the one statement that reads the catalogue at the start, which nobody's request waits for. */
  catalogueMs: 60_000,
} as const

/** Limits of `/subgraph`, whose clients ask for pages of a thousand. */
export const subgraphLimits = {
  requestBytes: 262_144,
  /** Tokens of a document; some clients write ids into it. */
  tokens: 20_000,
  /** Operations and fragments of a document, their fields, objects as arguments, and comparisons of fields that may be one. */
  definitions: 40,
  fields: 2_000,
  objects: 200,
  overlaps: 10_000,
  /** Fields that an operation selects, and depth of nested selections. */
  cost: 500,
  depth: 8,
  introspectionCost: 1_000_000,
  introspectionDepth: 16,
  /** Rows of one list, and of one that does not say; rows that may be skipped. */
  pageSize: 1_000,
  usualPage: 100,
  skip: 100_000,
  /** Lists that one request may read, and rows in all of them. */
  lists: 20,
  rows: 20_000,
  /** Fields in all rows of an answer, and bytes of these as they are read. */
  values: 100_000,
  bytes: 8_388_608,
  /** Values in all filters of a list, their parts, and how deep these may be nested. */
  filterValues: 10_000,
  filterParts: 500,
  filterDepth: 8,
  /** Characters of a text in a filter. */
  filterCharacters: 2_048,
  /** Bytes of a value of metadata; a longer one is left out. */
  metadataBytes: 8_192,
  /** Registrations that are looked up by index for a filter; where more match, they are read along the order. */
  matched: 5_000,
} as const
