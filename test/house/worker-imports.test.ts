import ts from 'typescript'
import { expect, test } from 'vitest'
import { readSources, type SourceFile } from '../support/source-files.ts'

/** Typed entities bring typeorm, whose 400 files take a second of CPU and 35 MB in every process that loads them. */
const decorated = /^(typeorm|@subsquid\/typeorm)/
const entries = ['processors/backfill/worker/main.ts', 'processors/backfill/main.ts']

test.each(entries)('%s loads no entities with decorators', async (entry) => {
  const sources = new Map((await readSources()).map((source) => [source.path, source]))
  expect(sources.has(entry)).toBe(true)
  const found: string[] = []
  const reached = new Map([[entry, entry]])
  for (const [path, trail] of reached) {
    for (const target of loadedBy(sources.get(path))) {
      if (decorated.test(target)) found.push(`${trail} > ${target}`)
      if (sources.has(target) && !reached.has(target)) reached.set(target, `${trail} > ${target}`)
    }
  }
  expect(reached.size).toBeGreaterThan(20)
  expect(found).toEqual([])
})

/** What is loaded with a file: all that it imports, but types. */
function loadedBy(source: SourceFile | undefined): string[] {
  const types = new Set<string>()
  for (const statement of source?.tree.statements ?? []) {
    const isType = ts.isImportDeclaration(statement)
      ? statement.importClause?.isTypeOnly
      : ts.isExportDeclaration(statement) && statement.isTypeOnly
    if (isType) types.add(((statement as ts.ImportDeclaration).moduleSpecifier as ts.StringLiteral).text)
  }
  return (source?.imports ?? []).filter((target) => ![...types].some((type) => isSame(source!, type, target)))
}

function isSame({ path }: SourceFile, written: string, target: string): boolean {
  return written.startsWith('.') ? new URL(written, `file:///${path}`).pathname === `/${target}` : written === target
}
