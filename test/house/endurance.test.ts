import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readSources, root, type SourceFile } from '../support/source-files.ts'

const document = readFileSync(join(root, 'docs/testing.md'), 'utf8')

test('docs/testing.md lists every test that endurance runs alone', async () => {
  const listed = [...document.matchAll(/^\| `(test\/\S+)` \| [^|]+ \|$/gm)].map(([, path]) => path)
  const found = (await readSources()).map(({ path }) => path).filter((path) => path.endsWith('.endurance.test.ts'))
  expect(found.length).toBeGreaterThan(0)
  expect(listed.sort()).toEqual(found.sort())
})

test('docs/testing.md lists every test that repeats itself, with how often', async () => {
  const listed = [...document.matchAll(/^\| `(test\/\S+)` \| [^|]+ \| (\d+) \| (\d+) \|$/gm)].map((row) =>
    row.slice(1, 4),
  )
  const found = (await readSources()).filter(({ path }) => path.endsWith('.test.ts')).flatMap(roundsOf)
  expect(found.length).toBeGreaterThan(0)
  expect(listed.sort()).toEqual(found.sort())
})

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
