import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readSources, root, type SourceFile } from '../support/source-files.ts'

const document = readFileSync(join(root, 'docs/testing.md'), 'utf8')

/** Rows of both tables: a test's path, what the row says of it, and how often it repeats itself, if it does. */
const rows = [...document.matchAll(/^\| `(test\/\S+)` \| ([^|]+) \|(?: (\d+) \| (\d+) \|)?$/gm)].map((row) =>
  row.slice(1),
)

test('docs/testing.md lists every test that endurance runs alone or in more rounds; `npx vitest run test/house/endurance.test.ts -u` writes the tables', async () => {
  const tests = (await readSources()).filter(({ path }) => path.endsWith('.test.ts'))
  const alone = tests.filter(({ path }) => path.endsWith('.endurance.test.ts'))
  const repeated = tests.flatMap((file) => roundsOf(file).map(([, ...counts]) => ({ file, counts })))
  expect(alone.length).toBeGreaterThan(0)
  expect(repeated.length).toBeGreaterThan(0)
  const written = document
    .replace(/(?<=^\| test \| what it shows \|\n.*\n)(\|.*\n)+/m, () =>
      tableOf(alone.map((file) => ({ file, counts: [] }))),
    )
    .replace(/(?<=^\| test \| what is repeated \|.*\n.*\n)(\|.*\n)+/m, () => tableOf(repeated))
  await expect(written).toMatchFileSnapshot('../../docs/testing.md')
})

interface Listed {
  readonly file: SourceFile
  /** Rounds in `npm test` and in an endurance run; empty: it runs only there. */
  readonly counts: readonly string[]
}

/** Rows in the order in which they stand, new ones behind them. A row keeps its words; a new one has the test's name. */
function tableOf(listed: readonly Listed[]): string {
  const known = rows.filter((row) => row.filter(Boolean).length === (listed[0]?.counts.length ?? 0) + 2)
  const used = new Set<(typeof known)[number]>()
  const lines = listed.map(({ file, counts }) => {
    const row = known.find((one) => one[0] === file.path && !used.has(one))
    if (row) used.add(row)
    const words = row?.[1] ?? firstName(file)
    return {
      place: row ? known.indexOf(row) : known.length,
      text: `| ${[`\`${file.path}\``, words, ...counts].join(' | ')} |\n`,
    }
  })
  return lines
    .toSorted((a, b) => a.place - b.place)
    .map(({ text }) => text)
    .join('')
}

/** Name of the first test of a file. */
function firstName({ tree }: SourceFile): string {
  const nameIn = (node: ts.Node): string | undefined => {
    if (ts.isCallExpression(node) && /^test\b/.test(node.expression.getText(tree))) {
      const [name] = node.arguments
      if (name && ts.isStringLiteralLike(name)) return name.text.replaceAll('|', '/')
    }
    return ts.forEachChild(node, nameIn)
  }
  return nameIn(tree) ?? ''
}

/** Every call `rounds(few, all)` in a file, as `[file, few, all]`. */
function roundsOf({ path, tree }: SourceFile): string[][] {
  const found: string[][] = []
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'rounds') {
      found.push([path, ...node.arguments.map((argument) => argument.getText(tree).replaceAll('_', ''))])
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}
