import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { root } from '../support/source-files.ts'

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

/** All dashboards, each with its name. Throws when a file has another shape than this one. */
export const dashboards = readdirSync(folder).map((file) => ({
  name: file.replace(/\.json$/, ''),
  ...dashboard.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))),
}))
/** What the panels of all dashboards ask. */
export const targets = dashboards.flatMap(({ panels }) => panels).flatMap((one) => one.targets)
/** PromQL of all panels; Grafana's variable is replaced by a duration, so that it parses. */
export const panelExpressions = () => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'))
