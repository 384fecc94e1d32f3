import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createMetrics as metricsOfApi } from '../../api/http/metrics.ts'
import { chainOf } from '../../chains.config.ts'
import { createMetrics as metricsOfEnrichment } from '../../enrichment/metrics.ts'
import { createHealth } from '../../processors/health.ts'
import { Progress } from '../../processors/progress.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { root } from '../support/source-files.ts'

const rulesFile = join(root, 'deploy/monitoring/rules/directory.yaml')
const scenariosFile = join(root, 'deploy/monitoring/tests/directory.yaml')
const runbooks = join(root, 'docs/runbooks')

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: { readonly runbook_url: string }
}
interface Scenario {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
}
const rules = (parse(readFileSync(rulesFile, 'utf8')).groups as { rules: Rule[] }[]).flatMap((group) => group.rules)
const scenarios = parse(readFileSync(scenariosFile, 'utf8')).tests as Scenario[]
const alerts = rules.flatMap(({ alert }) => alert ?? [])

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

test('the rules are well-formed, and fire when they should', () => {
  const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })
  expect(promtool('check', 'rules', rulesFile)).toContain('SUCCESS')
  expect(promtool('test', 'rules', scenariosFile)).toContain('SUCCESS')
})

test('each alert has a scenario in which it fires, one in which it does not, and a runbook', () => {
  const outcomes = scenarios.flatMap(({ alert_rule_test }) =>
    alert_rule_test.map(({ alertname, exp_alerts }) => `${alertname} ${exp_alerts.length > 0 ? 'fires' : 'is silent'}`),
  )
  expect(outcomes.toSorted()).toEqual(alerts.flatMap((name) => [`${name} fires`, `${name} is silent`]).toSorted())
  expect(readdirSync(runbooks).toSorted()).toEqual(alerts.map((name) => `${name}.md`).toSorted())
  for (const { alert, labels, annotations } of rules) {
    if (alert === undefined) continue
    expect(labels?.severity, alert).toMatch(/^(critical|warning)$/)
    expect(annotations?.runbook_url).toBe(`docs/runbooks/${alert}.md`)
    expect(readFileSync(join(runbooks, `${alert}.md`), 'utf8')).toMatch(new RegExp(`^# ${alert}\n`))
  }
})

test('the processes tell every metric that a rule asks for', async () => {
  const told = await Promise.all([textOfProcessor(), textOfApi(), textOfEnrichment()])
  const names = new Set([...told.join('\n').matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]))
  const recorded = rules.flatMap(({ record }) => record ?? [])
  const asked = rules.flatMap(
    ({ expr }) =>
      recorded.reduce((text, name) => text.replaceAll(name, ''), expr).match(/\b[a-z]\w*_\w+\b(?!\()/g) ?? [],
  )
  expect(asked.length).toBeGreaterThan(alerts.length - 2)
  expect(asked.filter((name) => !names.has(name.replace(/_(count|bucket)$/, '')))).toEqual([])
})

test.each(readdirSync(runbooks))('the statements of %s can be run', async (page) => {
  const statements = [...readFileSync(join(runbooks, page), 'utf8').matchAll(/^```sql\n([\s\S]*?)^```$/gm)]
  for (const [, statement] of statements) await database.pool.query(statement as string)
})

async function textOfProcessor() {
  const mended = { missing: 0, surplus: 0, changed: 0, contracts: 0, unpaid: 0 }
  return createHealth({ name: 'base', ...chainOf('base') }, new Progress(), new Registry(), undefined, {
    mended,
    blocksToGo: 0,
  }).metrics()
}

function textOfApi() {
  const { pool } = database
  return metricsOfApi({ cache: { bytes: 0, size: 0 }, database: pool, pool }).registry.metrics()
}

function textOfEnrichment() {
  const { pool } = database
  return metricsOfEnrichment({ pool, hosts: [], hubDoubt: async () => undefined, now: () => new Date() }).text()
}
