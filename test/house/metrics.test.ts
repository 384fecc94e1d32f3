import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { seriesOfProcesses } from '../ops/metrics.ts'
import { readRules } from '../ops/rules.ts'
import { listFiles, places, readSources, root } from '../support/source-files.ts'

const prefix = 'agent_directory_'
/** Metrics that libraries name: of the process, of Node, and of the Squid SDK. */
const ofLibraries = /^(process|nodejs|sqd)_/

const series = [...seriesOfProcesses().keys()].filter((name) => !ofLibraries.test(name))

test('every metric and recorded series that we name has our prefix', () => {
  const recorded = readRules().flatMap(({ record }) => record ?? [])
  expect(series).not.toEqual([])
  expect([...series, ...recorded].filter((name) => !name.startsWith(prefix))).toEqual([])
})

test('only ops/metrics.ts makes metrics, and takes no name without the prefix', async () => {
  const classes = /^(Counter|Gauge|Histogram|Summary)$/
  const wrong = (await readSources())
    .filter(({ path, room }) => room !== 'test' && path !== 'ops/metrics.ts')
    .flatMap((file) =>
      places(
        file,
        (node) =>
          ts.isImportDeclaration(node) &&
          (node.moduleSpecifier as ts.StringLiteral).text === 'prom-client' &&
          node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword &&
          (node.importClause?.namedBindings?.forEachChild(
            (one) => ts.isImportSpecifier(one) && !one.isTypeOnly && classes.test(one.name.text),
          ) ??
            false),
      ),
    )
  expect(wrong).toEqual([])
})

test('documents name our metrics as the processes tell them', () => {
  const known = new Set(series.flatMap((name) => [name, name.replace(/_(bucket|sum|count)$/, '')]))
  const bare = new RegExp(`(?<![\\w.])(${[...known].map((name) => name.slice(prefix.length)).join('|')})(?!\\w)`, 'g')
  const wrong = listFiles()
    .filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const unknown = (text.match(/(?<!\w)agent_directory_\w+/g) ?? []).filter((name) => !known.has(name))
      return [...unknown, ...(text.match(bare) ?? [])].map((name) => `${path}: ${name}`)
    })
  expect(wrong).toEqual([])
})
