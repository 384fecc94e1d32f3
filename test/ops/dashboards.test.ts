import { expect, test } from 'vitest'
import { seriesOfExporters } from './exporters.ts'
import { seriesOfProcesses, seriesRead, unknownTo } from './metrics.ts'
import { dashboards, panelExpressions, targets } from './panels.ts'
import { readRules } from './rules.ts'

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

test('every series and label of a panel is told by a process', () => {
  expect(panelExpressions().flatMap((expr) => unknownTo(known, expr))).toEqual([])
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
  const shown = new Set(panelExpressions().flatMap((expr) => seriesRead(expr).map(([name]) => name)))
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
