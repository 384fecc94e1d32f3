import { beforeAll, expect, test } from 'vitest'
import { readConfig as readApi } from '../../api/config.ts'
import { chainNames } from '../../chains.config.ts'
import { readConfig as readEnrichment } from '../../enrichment/config.ts'
import { readConfig as readProcessor } from '../../processors/config.ts'
import { readExample, readVariables } from '../support/settings.ts'

const example = readExample()
/** Who of .env.example's readers is which room. */
const rooms: Record<string, string> = {
  migrate: 'db',
  processor: 'processors',
  enrichment: 'enrichment',
  api: 'api',
  graphql: 'api',
  export: 'export',
}

let read: Map<string, Set<string>>
beforeAll(async () => {
  read = await readVariables()
})

test('every variable that the code reads is in .env.example', () => {
  const listed = new Set(example.map(({ name }) => name))
  expect([...read.keys()].filter((name) => !listed.has(name))).toEqual([])
})

test('every variable of .env.example is read by somebody, and listed once', () => {
  const names = example.map(({ name }) => name)
  // The compose file makes an address of this one; its own test looks at the variables there.
  expect(names.filter((name) => !read.has(name) && name !== 'POSTGRES_PASSWORD')).toEqual([])
  expect(names).toEqual([...new Set(names)])
})

test('every variable of .env.example says what it is and who reads it', () => {
  for (const { name, text, readers } of example) {
    expect(text, name).toMatch(/^[A-Za-z0-9].{10,}\. Read by: /s)
    expect(readers, name).not.toEqual([])
    expect(
      [...readers].filter((reader) => !rooms[reader] && reader !== 'docker-compose.yml'),
      name,
    ).toEqual([])
  }
})

test('the readers that .env.example names are those whose code asks for the variable', () => {
  for (const { name, readers } of example) {
    const said = readers.flatMap((reader) => rooms[reader] ?? [])
    const asking = [...(read.get(name) ?? [])].filter((room) => Object.values(rooms).includes(room))
    expect(
      asking.filter((room) => !said.includes(room)),
      name,
    ).toEqual([])
  }
})

test('the values of .env.example are the defaults', () => {
  const shown = Object.fromEntries(example.map(({ name, value }) => [name, value]))
  expect(readApi(shown, undefined)).toEqual(readApi({}, undefined))
  expect(readEnrichment(shown)).toEqual(readEnrichment({}))
  for (const name of chainNames)
    expect(readProcessor(name, shown, undefined)).toEqual(readProcessor(name, {}, undefined))
})
