import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { places, readSources, root, type SourceFile } from '../support/source-files.ts'

test('tests start the project’s mains by startMain alone: compiled once, with an environment of their own', async () => {
  const ofTests = (await readSources()).filter(({ path }) => path.startsWith('test/'))
  const wrong = ofTests.flatMap((file) =>
    places(file, (node) => ts.isStringLiteralLike(node) && ['tsx', '--import'].includes(node.text)),
  )
  const allowed = /^test\/(support\/mains|house\/processes\.test)\.ts:/
  expect(wrong.filter((place) => !allowed.test(place))).toEqual([])
})

test('what adds a chain to its process has a worker of its own: files after it would see that chain', async () => {
  const [, alone = ''] =
    readFileSync(join(root, 'vitest.config.ts'), 'utf8').match(/^const alone = \[([^\]]+)\]$/m) ?? []
  const adding = (await readSources()).filter(
    ({ path, tree }) => path.endsWith('.test.ts') && /\baddChains\(\{/.test(tree.text),
  )
  expect(adding.map(({ path }) => path).filter((path) => !alone.includes(path))).toEqual([])
  expect(adding).not.toEqual([])
})

/** Packages that may load at start, to parse settings, database URLs and host names: a quarter of a second in all. */
const early = ['pg', 'tldts', 'zod']

test('a command loads what its work needs once its arguments are read: help and refusals are there at once', async () => {
  const files = new Map((await readSources()).map((file) => [file.path, file]))
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const mains = Object.values(scripts).flatMap((command: string) =>
    command.split(' ').filter((word) => files.has(word)),
  )
  expect(mains.length).toBeGreaterThan(15)
  const wrong = mains.flatMap((main) =>
    packagesOf(main, files)
      .filter((name) => !early.includes(name))
      .map((name) => `${main} loads ${name}`),
  )
  expect(wrong).toEqual([])
})

/** The packages that are loaded before the first line of a file runs. */
function packagesOf(main: string, files: ReadonlyMap<string, SourceFile>): string[] {
  const loaded = new Set([main])
  for (const path of loaded) for (const target of loadedBy(files.get(path))) loaded.add(target)
  return [...loaded].filter((name) => !name.includes('.ts') && !name.includes('.mjs') && !name.startsWith('node:'))
}

/** Paths and packages that load with a file: neither type imports nor dynamic `import()`. */
function loadedBy(file: SourceFile | undefined): string[] {
  return (file?.tree.statements ?? []).flatMap((node) => {
    if (!file || !(ts.isImportDeclaration(node) || ts.isExportDeclaration(node))) return []
    const ofTypes = ts.isImportDeclaration(node) ? node.importClause?.isTypeOnly : node.isTypeOnly
    if (ofTypes || !node.moduleSpecifier || !ts.isStringLiteral(node.moduleSpecifier)) return []
    const name = node.moduleSpecifier.text
    return [name.startsWith('.') ? posix.normalize(`${dirname(file.path)}/${name}`) : name]
  })
}
