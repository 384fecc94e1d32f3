import { type ReadyChain, readyChains } from './chains.more.ts'
import { defaultChainNames } from './chains.ts'

/** What a ready-made row may lack, by the field of CHAINS_FILE that states it. */
const undocumented = {
  dataset: 'which dataset of the SQD Portal has it',
  finality: 'how many blocks below its head may be replaced',
  registry: 'the first block of its IdentityRegistry',
  reputation: 'the first block of its ReputationRegistry',
  explorer: 'its block explorer',
} as const

/** Content of CHAINS_FILE, or one of its entries. */
type Content = Readonly<Record<string, unknown>>

/**
 * Content of CHAINS_FILE as it is read with this value of CHAINS: it has the rows of the ready-made chains that are named,
 * and the built-in chains that are not named are off. What the file itself says of a chain goes before both. Without a
 * value the file is as it is. Throws one error with every name that no chain has, and with what a row lacks.
 */
export function withChosen(chosen: string | undefined, file: unknown): unknown {
  const names = new Set(
    (chosen ?? '')
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  )
  const given = file ?? {}
  if (names.size === 0 || !isContent(given)) return file
  const ready = Object.entries(readyChains).filter(([name]) => names.has(name))
  const off = defaultChainNames.filter((name) => !names.has(name))
  const merged: Content = {
    ...Object.fromEntries(ready.map(([name, row]) => [name, over(known(row), given[name])])),
    ...Object.fromEntries(off.map((name) => [name, over({ enabled: false }, given[name])])),
  }
  const all = { ...given, ...merged }
  refuse([
    ...[...names].filter((name) => !isName(name, all)).map((name) => `CHAINS ${name}: ${noChain(all)}`),
    ...ready.flatMap(([name]) => lacks(merged[name]).map((lack) => `CHAINS ${name}: ${lack}`)),
  ])
  return { ...merged, ...all }
}

/** A ready-made row as an entry of CHAINS_FILE, without what is null in it. */
function known(row: ReadyChain): Content {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value.fromBlock !== null))
}

/** An entry with what the file gives on top; anything but an object is left for the file's own check. */
function over(entry: Content, given: unknown): unknown {
  return isContent(given ?? {}) ? { ...entry, ...(given as Content | undefined) } : given
}

function lacks(entry: unknown): string[] {
  if (!isContent(entry)) return []
  return Object.entries(undocumented)
    .filter(([field]) => entry[field] === undefined)
    .map(
      ([field, what]) => `no source we know of states ${what}; state "${field}" in CHAINS_FILE, or leave the chain out`,
    )
}

const allNames = (file: Content) => [
  ...new Set<string>([...defaultChainNames, ...Object.keys(readyChains), ...Object.keys(file)]),
]
const isName = (name: string, file: Content) => allNames(file).includes(name)
const noChain = (file: Content) => `is not a chain; chains are ${allNames(file).join(', ')}`

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`the chain settings are wrong:\n  ${problems.join('\n  ')}`)
}

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
