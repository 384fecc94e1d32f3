/** Output formats: a JSON array, a line of JSON for each row, CSV (RFC 4180), or aligned columns for people. */
export const formats = ['json', 'ndjson', 'csv', 'table'] as const
export type Format = (typeof formats)[number]

type Row = Readonly<Record<string, unknown>>

/** Rows as text, streamed row by row; `table` collects all rows first. In a terminal a CSV cell has no control characters. */
export async function* written(
  rows: AsyncIterable<Row> | Iterable<Row>,
  format: Format,
  isTerminal = false,
): AsyncGenerator<string> {
  const cell = (text: string) => quoted(isTerminal ? oneLine(text) : text)
  if (format === 'table') return yield* table(rows)
  let before = format === 'json' ? '[\n' : ''
  let columns: string[] | undefined
  for await (const row of rows) {
    if (format === 'ndjson') yield `${jsonText(row)}\n`
    else if (format === 'json') yield `${before}${jsonText(row)}`
    else {
      if (!columns) yield `${Object.keys(row).map(cell).join(',')}\r\n`
      columns ??= Object.keys(row)
      yield `${columns.map((name) => cell(textOf(row[name]))).join(',')}\r\n`
    }
    before = ',\n'
  }
  if (format === 'json') yield before === '[\n' ? '[]\n' : '\n]\n'
}

async function* table(rows: AsyncIterable<Row> | Iterable<Row>): AsyncGenerator<string> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  const columns = Object.keys(all[0] ?? {})
  const lines = [columns, ...all.map((row) => columns.map((name) => oneLine(textOf(row[name]))))]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  for (const line of lines)
    yield `${line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`
}

/** JSON in which control characters are escaped, those too that JSON lets stand: terminals act on U+0080 to U+009F. */
export const jsonText = (value: unknown, indent?: number) =>
  JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Replaces control and format characters by spaces: names and bios are strangers' texts, read in a terminal. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')

/** A value as a CSV cell; one that a spreadsheet could take for a formula gets an apostrophe in front. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[0-9.]+$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
