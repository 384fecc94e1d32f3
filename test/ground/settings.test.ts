import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig as readApi } from '../../api/config.ts'
import { readConfig as readGraphql } from '../../api/graphql/config.ts'
import { chainNames } from '../../config/chains.ts'
import { claimLimits } from '../../config/limits.claims.ts'
import { isLoopback, readSettings } from '../../config/settings.check.ts'
import { type Reader, readers, type Setting } from '../../config/settings.row.ts'
import { settings } from '../../config/settings.ts'
import { readConfig as readEnrichment } from '../../enrichment/config.ts'
import { readConfig as readProcessor } from '../../processors/config.ts'
import { documentRows, exampleText } from '../support/settings.ts'
import { root } from '../support/source-files.ts'

const all: [string, Setting][] = Object.values(settings).flatMap((group) => Object.entries(group))

test('.env.example is what the table of settings says', async () => {
  await expect(exampleText()).toMatchFileSnapshot('../../.env.example')
})

test('the variables of docs/settings.md are those of the table', async () => {
  const document = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  const table = `| variable | default | meaning |\n|---|---|---|\n${documentRows().join('\n')}\n`
  expect(document.match(/^(\|.*\n)+/gm)).toHaveLength(1)
  await expect(document.replace(/^(\|.*\n)+/m, () => table)).toMatchFileSnapshot('../../docs/settings.md')
})

test('every setting says what it is, in which unit, what its absence means, and who reads it', () => {
  expect(all.length).toBeGreaterThan(40)
  for (const [name, { about, more, readers: read, default: value, unset, form }] of all) {
    expect(about, name).toMatch(/^\S.{10,}[^.]$/)
    if (more) expect(more, name).toMatch(/\.$/)
    expect(read, name).not.toEqual([])
    expect(value === undefined, name).toBe(unset !== undefined)
    if (value !== undefined) expect(form.safeParse(value).success, name).toBe(true)
  }
})

test('the defaults are what is read when nothing is set, and empty values mean the same', () => {
  const shown = Object.fromEntries(all.map(([name, setting]) => [name, setting.default ?? '']))
  expect(readApi(shown, undefined)).toEqual(readApi({}, undefined))
  expect(readGraphql(shown)).toEqual(readGraphql({}))
  expect(readEnrichment(shown)).toEqual(readEnrichment({}))
  for (const name of chainNames)
    expect(readProcessor(name, shown, undefined)).toEqual(readProcessor(name, {}, undefined))
})

test('no window for signed times ends later than proofs are published', () => {
  const windowOf = (CLAIM_WINDOW_SECONDS: string) => readApi({ CLAIM_WINDOW_SECONDS }, undefined).claims.windowSeconds
  expect(windowOf(String(claimLimits.proofWaitSeconds))).toBe(900)
  expect(() => windowOf('901')).toThrow(/CLAIM_WINDOW_SECONDS must be an integer from 1 to 900/)
})

test('every reader names every bad variable at once, and no other', () => {
  const bad = Object.fromEntries(all.map(([name]) => [name, '\n']))
  for (const reader of readers) {
    if (reader === 'docker-compose.yml') continue
    const named = problemsOf(reader, bad).map((problem) => problem.split(' ')[0])
    const strict = all.filter(([, { form, readers: read }]) => read.includes(reader) && !form.safeParse('\n').success)
    const ofChains = /^(RPC_|GATEWAY_|PORTAL_URL|CHAINS)/ // read with the chain table
    expect([...new Set(named)].sort()).toEqual(
      strict
        .map(([name]) => name)
        .filter((name) => !ofChains.test(name))
        .sort(),
    )
  }
})

describe('an API for others', () => {
  const at = (HOST: string, BASE_URL?: string) => () => readApi({ HOST, ...(BASE_URL && { BASE_URL }) }, undefined)

  test.each(['0.0.0.0', '::', '192.0.2.1', 'api.internal'])(
    'on %s is refused the loopback address as its own',
    (host) => {
      expect(at(host)).toThrow(/BASE_URL must be the address that users know/)
      for (const base of ['http://127.1.2.3:80', 'http://localhost:3000', 'http://[::1]:3000', 'http://a.localhost']) {
        expect(at(host, base), base).toThrow(/BASE_URL must be/)
      }
      expect(at(host, 'https://api.example')()).toMatchObject({ baseUrl: 'https://api.example' })
    },
  )

  test.each(['127.0.0.1', '127.3.0.1', '::1', 'localhost'])('is not served on %s, where both are the same', (host) => {
    expect(isLoopback(host)).toBe(true)
    expect(at(host)()).toMatchObject({ host })
  })
})

function problemsOf(reader: Reader, env: Record<string, string>): readonly string[] {
  try {
    readSettings(reader, env)
    return []
  } catch (error) {
    return (error as { problems: string[] }).problems
  }
}
