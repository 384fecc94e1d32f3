import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { root } from '../support/source-files.ts'
import { seriesOfExporters } from './exporters.ts'
import { seriesOfProcesses, seriesRead, unknownTo } from './metrics.ts'
import { readRules } from './rules.ts'

const folder = join(root, 'deploy/monitoring/dashboards')
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal(`\${datasource}`) })
const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource,
  expr: z.string().min(1),
  legendFormat: z.string().optional(),
  instant: z.boolean().optional(),
  format: z.literal('table').optional(),
})
const panel = z.strictObject({
  id: z.int(),
  type: z.enum(['timeseries', 'table']),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource,
  gridPos: z.strictObject({ x: z.int().min(0), y: z.int().min(0), w: z.int().min(1), h: z.int().min(1) }),
  targets: z.array(target).min(1),
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit: z.enum(['none', 's', 'reqps', 'percentunit', 'bytes']),
      min: z.number().optional(),
      max: z.number().optional(),
      custom: z.strictObject({ thresholdsStyle: z.strictObject({ mode: z.literal('line') }) }).optional(),
      thresholds: z
        .strictObject({
          mode: z.literal('absolute'),
          steps: z.array(z.strictObject({ color: z.string(), value: z.number().nullable() })),
        })
        .optional(),
    }),
    overrides: z.tuple([]),
  }),
})
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string().min(1),
  schemaVersion: z.int(),
  templating: z.object({
    list: z.tuple([z.looseObject({ name: z.literal('datasource'), type: z.literal('datasource') })]),
  }),
  panels: z.array(panel).min(1),
})

const files = readdirSync(folder)
const dashboards = files.map((file) => ({
  name: file.replace(/\.json$/, ''),
  ...dashboard.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))),
}))
const targets = dashboards.flatMap(({ panels }) => panels).flatMap((one) => one.targets)
/** PromQL of all panels; Grafana's variable is replaced by a duration, so that it parses. */
const expressions = targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'))

const rules = readRules()
/** Labels by series that panels may read, with Prometheus' own ALERTS and with recorded rules, which have no labels. */
const known = new Map([
  ...seriesOfProcesses(),
  ...seriesOfExporters(),
  ['ALERTS', ['alertname', 'alertstate', 'severity']] as const,
  ...rules.flatMap(({ record }) => (record === undefined ? [] : [[record, []] as const])),
])

test.each(dashboards)('the panels of $name have places of their own', ({ name, uid, panels, ...rest }) => {
  expect(uid).toBe(`agent-directory-${name}`)
  expect(rest).not.toHaveProperty('id')
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => ({ x: x + (i % w), y: y + Math.floor(i / w) })),
  )
  expect(cells.filter(({ x }) => x >= 24)).toEqual([])
  expect(new Set(cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(cells.length)
  for (const { targets } of panels) expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
})

test('Prometheus can read every expression', () => {
  const at = mkdtempSync(join(tmpdir(), 'dashboards-'))
  try {
    const file = join(at, 'panels.json')
    const asRules = expressions.map((expr, i) => ({ record: `panel:${i}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
    const said = execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8', stdio: 'pipe' })
    expect(said).toContain(`SUCCESS: ${expressions.length} rules found`)
  } finally {
    rmSync(at, { recursive: true })
  }
})

test('every series and label of a panel is told by a process', () => {
  expect(expressions.flatMap((expr) => unknownTo(known, expr))).toEqual([])
  const ofLegends = targets.flatMap(({ expr, legendFormat = '' }) =>
    [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].flatMap(([, label]) =>
      seriesRead(expr)
        .filter(([name]) => !known.get(name)?.includes(label!))
        .map(([name]) => `${name}{${label}}`),
    ),
  )
  expect(ofLegends).toEqual([])
})

test('what an alert watches is on a dashboard', () => {
  const shown = new Set(expressions.flatMap((expr) => seriesRead(expr).map(([name]) => name)))
  const watched = rules.filter(({ alert }) => alert).flatMap(({ expr }) => seriesRead(expr).map(([name]) => name))
  expect(watched.filter((name) => !shown.has(name))).toEqual([])
})

test('a name, a label of a selector and a label of a grouping that nothing tells are found', () => {
  const series = new Map([['a_total', ['chain']]])
  const ask = (expr: string) => unknownTo(series, expr).map((line) => line.split(',')[0])
  expect(ask('sum by (chain) (rate(a_total{chain=~"b{2},c(d)"}[5m])) > 0.5 and 1e3 > on (chain) a_total')).toEqual([])
  expect(ask('topk(3, b_total) or a_total')).toEqual(['b_total'])
  expect(ask('a_total{state!="x", chain="y"}')).toEqual(['a_total{state}'])
  expect(ask('sum(a_total) by (route, chain)')).toEqual(['a_total{route}'])
  expect(ask('{__name__="a_total"}')).not.toEqual([])
})
