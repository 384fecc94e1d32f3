import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mark } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { root } from '../support/source-files.ts'

const events = { insert: ['added', 'new'], update: ['changed', 'new'], delete: ['removed', 'old'] } as const
type Event = keyof typeof events

/** A trigger for each event of each table, for all kinds whose keys it marks. */
function triggers(): string {
  const marks = derivations.flatMap(({ kind, marks }) => (marks as readonly Mark[]).map((mark) => ({ kind, ...mark })))
  const tables = [...new Set(marks.map(({ table }) => table))]
  const made = tables.map((table) =>
    Object.entries(events)
      .map(([event, [name, rows]]) => {
        const args = marks
          .filter((mark) => mark.table === table && (mark.on ?? Object.keys(events)).includes(event as Event))
          .map(({ kind, key, through }) => {
            const query = `select ${key} from moved${through ? ` ${through.trim()}` : ''}`
            return `\n    '${kind}', ${quoted(query)}`
          })
        if (args.length === 0) return ''
        return `create trigger mark_${name} after ${event} on ${table}
  referencing ${rows} table as moved for each statement execute function mark_due(${args.join(',')});\n`
      })
      .join(''),
  )
  return `-- Which rows make which keys due: the marks of derive/derivations.ts. Written by the test of them, and never by hand:
-- npx vitest run test/derive/marks.test.ts -u\n\n${made.join('\n')}`
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

test('the triggers of the schema are those of the list', async () => {
  await expect(triggers()).toMatchFileSnapshot(join(root, 'db/schema/tables/17_marks.sql'))
})

test('no two derivations are of one kind', () => {
  const kinds = derivations.map(({ kind }) => kind)
  expect([...new Set(kinds)]).toEqual(kinds)
})
