import { kinds } from './kinds.ts'
import type { Mark, MarkEvent } from './mark.ts'

/** Trigger of each event, and which rows it sees. */
const events = [
  { event: 'insert', trigger: 'mark_added', rows: 'new' },
  { event: 'update', trigger: 'mark_changed', rows: 'new' },
  { event: 'delete', trigger: 'mark_removed', rows: 'old' },
] as const satisfies readonly { event: MarkEvent; trigger: string; rows: string }[]

/**
 * SQL of the triggers that mark keys of all kinds, by table: one for each event of it that makes a key due. It can run
 * again, over what an earlier list made.
 */
export function markTriggers(): ReadonlyMap<string, string> {
  const marks = Object.entries(kinds).flatMap(([kind, { marks }]) => marks.map((mark: Mark) => ({ ...mark, kind })))
  const tables = [...new Set(marks.map(({ table }) => table))]
  return new Map(
    tables.map((table) => {
      const own = marks.filter((mark) => mark.table === table)
      return [table, events.map((one) => trigger(table, one, own)).join('')]
    }),
  )
}

function trigger(
  table: string,
  { event, trigger, rows }: (typeof events)[number],
  marks: readonly (Mark & { readonly kind: string })[],
): string {
  const args = marks
    .filter(({ on }) => on?.includes(event) ?? true)
    .map(({ kind, key, from = 'moved' }) => `${quoted(kind)}, ${quoted(`select ${key} from ${from}`)}`)
    .join(', ')
  if (args === '') return `drop trigger if exists ${trigger} on ${table};\n`
  const before = /\bwere\b/.test(args) ? 'old table as were ' : ''
  return `create or replace trigger ${trigger} after ${event} on ${table}
  referencing ${before}${rows} table as moved for each statement execute function mark_due(${args});\n`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
