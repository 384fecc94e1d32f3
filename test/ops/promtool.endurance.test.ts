import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { panelExpressions } from './panels.ts'
import { monitoringFiles } from './rules.ts'

// What Prometheus itself says of rules and dashboards.

const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })

test('the rules are well-formed, and fire when they should', () => {
  expect(promtool('check', 'rules', ...monitoringFiles('rules'))).toContain('SUCCESS')
  expect(promtool('test', 'rules', ...monitoringFiles('tests'))).toContain('SUCCESS')
})

test('Prometheus can read every expression of a panel', () => {
  const expressions = panelExpressions()
  const at = mkdtempSync(join(tmpdir(), 'dashboards-'))
  try {
    const file = join(at, 'panels.json')
    const asRules = expressions.map((expr, i) => ({ record: `panel:${i}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
    expect(promtool('check', 'rules', file)).toContain(`SUCCESS: ${expressions.length} rules found`)
  } finally {
    rmSync(at, { recursive: true })
  }
})
