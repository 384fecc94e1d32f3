import { readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { listFiles, places, readSources, type SourceFile } from '../support/source-files.ts'

test('no path in a source leaves the project: a clone is all that anything needs', async () => {
  const wrong = (await readSources()).flatMap((file) => places(file, (node) => leadsOut(file, node)))
  expect(wrong).toEqual([])
})

function leadsOut({ path }: SourceFile, node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return false
  if (!/^(\.\.\/)+[\w.-]/.test(node.text)) return false
  return posix.normalize(`${dirname(path)}/${node.text}`).startsWith('../')
}

test('every page of docs/ that is cited exists, with the section that is cited', async () => {
  const files = listFiles()
  const cited = (await readSources()).flatMap(({ path, text }) =>
    [...text.matchAll(/docs\/([\w.-]+\.md)(?: (\d+))?/g)].map(([, page, section]) => ({ path, page, section })),
  )
  expect(cited.length).toBeGreaterThan(0)
  expect(cited.filter(({ page }) => !files.includes(`docs/${page}`))).toEqual([])
  const rules = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8')
  const sections = new Set([...rules.matchAll(/^## (\d+)\. /gm)].map(([, section]) => section))
  const wrong = cited.filter(({ page, section }) => page === 'rules.md' && section && !sections.has(section))
  expect(wrong).toEqual([])
})
