import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { chainNames, chainOf } from '../../config/chains.ts'
import { listFiles, places, readSources, root, textsOf } from '../support/source-files.ts'

const words = chainNames.flatMap((name) => {
  const { label, feedTerm, dataset } = chainOf(name)
  return [name, label, feedTerm, dataset]
})

/** Files that may name a chain outside the table, and why; `word`: the exception is for that word alone. */
const exceptions: { in: RegExp; word?: RegExp; why: string }[] = [
  { in: /^devnet\/hub\//, word: /^ethereum$/, why: 'a protocol of verifications, whatever the chain' },
  { in: /^ops\/logger\.ts$/, word: /^base$/, why: 'an option of pino' },
  { in: /^devnet\/world\/identities\.ts$/, why: 'where the people of a made-up world hold what they hold' },
  { in: /^enrichment\/specs\/(offers\/|prices\.ts)/, word: /^eth$/, why: 'a currency that sellers name prices in' },
  { in: /^db\/contract\/questions\//, why: 'a question that somebody asks of one chain, for an example' },
]

test('the name, the label, the feed’s term and the dataset of a chain stand in the table of chains alone', async () => {
  const files = (await readSources()).filter(
    ({ path, room }) => room !== 'test' && path !== 'config/chains.ts' && !path.includes('/generated/'),
  )
  const used = new Set<string>()
  const isExcepted = (path: string, word: string) => {
    const found = exceptions.find((one) => one.in.test(path) && (one.word?.test(word) ?? true))
    if (found) used.add(found.why)
    return found !== undefined
  }
  const wrong = files.flatMap((file) =>
    places(file, (node) => {
      const texts = isKey(node) ? [node.text] : textsOf(node)
      const named = texts.flatMap((text) => words.filter((word) => names(text, word)))
      return named.some((word) => !isExcepted(file.path, word))
    }),
  )
  expect(wrong).toEqual([])
  // Exceptions that are no longer needed must be removed from the list.
  expect(exceptions.map(({ why }) => why).filter((why) => !used.has(why))).toEqual([])
})

test('no SQL of the database and no style sheet names a chain', () => {
  const sheets = listFiles().filter((path) => path.endsWith('.css'))
  const sql = listFiles().filter((path) => /^db\/(schema|migrations)\/.*\.sql$/.test(path))
  expect(sheets.length).toBeGreaterThan(0)
  const wrong = [...sheets, ...sql].filter((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return (
      words.some((word) => names(text, word) || text.includes(`.${word} `)) ||
      chainNames.slice(1).some((name, index) => text.includes(`${chainNames[index]}, ${name}`))
    )
  })
  expect(wrong).toEqual([])
})

/** Whether a node is the key of an object, as in `{ celo: … }`: data by chain belongs into the chain's row. */
function isKey(node: ts.Node): node is ts.Identifier {
  return ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node
}

/** Whether a text is the word, or has it in quotes. */
function names(text: string, word: string): boolean {
  return text === word || text.includes(`'${word}'`) || text.includes(`"${word}"`)
}

/** Mains that are exempt: they generate pages of docs/ from the built-in table alone. */
const exceptFor = ['db/contract/main.ts']

test('a main that opens a database knows the chains of CHAINS_FILE: an embedded one is migrated then', async () => {
  const mains = (await readSources()).filter(
    ({ path, text }) =>
      path.endsWith('main.ts') && !/^(test|bench)\//.test(path) && /\b(openDatabase|runHttp|serveApi)\(/.test(text),
  )
  expect(mains.length).toBeGreaterThan(6)
  const ignorant = mains.filter(({ text }) => !text.includes('openChains(')).map(({ path }) => path)
  expect(ignorant).toEqual(exceptFor)
})
