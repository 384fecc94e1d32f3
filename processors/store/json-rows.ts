/** Rows per JSON array by default: the URI in a row can have a quarter of a megabyte. */
const rowsPerPage = 100

/** Entities as JSON arrays of rows with the columns' names, some rows each. */
export function jsonPages(entities: readonly object[], perPage = rowsPerPage): string[] {
  return Array.from({ length: Math.ceil(entities.length / perPage) }, (_, page) =>
    jsonRows(entities.slice(page * perPage, (page + 1) * perPage)),
  )
}

/** Entities as one JSON array of rows with the columns' names. */
export function jsonRows(entities: readonly object[]): string {
  return JSON.stringify(
    entities.map((entity) =>
      Object.fromEntries(Object.entries(entity).map(([field, value]) => [columnOf(field), jsonOf(value)])),
    ),
  )
}

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function jsonOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'bigint' ? String(value) : value
}
