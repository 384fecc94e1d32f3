import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { chainNames } from '../../config/chains.ts'
import { testDatabase } from '../support/database.ts'
import { listFiles, root } from '../support/source-files.ts'
import { seriesOfExporters } from './exporters.ts'
import { seriesOfProcesses, seriesRead, unknownTo } from './metrics.ts'
import { monitoringFiles, readRules } from './rules.ts'

/** Paths of all runbooks; each is named for a group of alerts. */
const runbooks = listFiles().filter((path) => path.startsWith('docs/runbooks/'))

interface Scenario {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
}
const rules = readRules()
const scenarios = monitoringFiles('tests').flatMap((file) => parse(readFileSync(file, 'utf8')).tests as Scenario[])
const alerts = rules.flatMap(({ alert }) => alert ?? [])

const database = testDatabase()

/** The alert that always fires, to show that alerts are delivered. */
const always = 'Watchdog'

test('each alert has a scenario in which it fires, one in which it does not, and a runbook', () => {
  const outcomes = scenarios.flatMap(({ alert_rule_test }) =>
    alert_rule_test.map(({ alertname, exp_alerts }) => `${alertname} ${exp_alerts.length > 0 ? 'fires' : 'is silent'}`),
  )
  const wanted = alerts.flatMap((name) => [`${name} fires`, ...(name === always ? [] : [`${name} is silent`])])
  expect([...new Set(outcomes)].toSorted()).toEqual(wanted.toSorted())
  const pages = rules.flatMap(({ alert, group, labels, annotations }) => {
    if (alert === undefined) return []
    const page = `docs/runbooks/${group}/${alert}.md`
    expect(labels?.severity, alert).toMatch(/^(critical|warning|info)$/)
    expect(annotations?.runbook_url).toBe(page)
    expect(readFileSync(join(root, page), 'utf8')).toMatch(new RegExp(`^# ${alert}\n`))
    return page
  })
  expect(runbooks.toSorted()).toEqual(pages.toSorted())
})

test('each chain of the table is missed', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'ChainMissing') ?? {}
  const missed = [...expr.matchAll(/absent\(agent_directory_processor_indexed_block\{chain="(\w+)"\}\)/g)].map(
    ([, chain]) => chain,
  )
  expect(missed).toEqual(chainNames)
  expect(rules.filter(({ expr, alert }) => alert !== 'ChainMissing' && /\bchain=/.test(expr))).toEqual([])
})

test('the processes, or exporters next to them, tell every series and label that a rule asks for', () => {
  const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [[record, []] as const]))
  const known = new Map([...seriesOfProcesses(), ...seriesOfExporters(), ...recorded])
  for (const { alert, expr } of rules) if (alert !== always) expect(seriesRead(expr), expr).not.toEqual([])
  expect(rules.flatMap(({ expr }) => unknownTo(known, expr))).toEqual([])
})

test('the processes tell what docs/operations.md answers questions with', () => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  const asked = [...page.matchAll(/^\| How [^|]*\| `([^`]+)` \|$/gm)].map(([, expr]) => expr as string)
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.flatMap((expr) => unknownTo(seriesOfProcesses(), expr))).toEqual([])
})

test.each(runbooks)('the links of %s lead somewhere, and its statements can be run', async (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to]) => join(root, dirname(page), to as string))
  expect(links.filter((path) => !existsSync(path))).toEqual([])
  const statements = [...text.matchAll(/^```sql\n([\s\S]*?)^```$/gm)]
  for (const [, statement] of statements) await database.pool.query(statement as string)
})
