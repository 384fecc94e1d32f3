import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTools } from '../../../api/mcp/tools.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { root } from '../../support/source-files.ts'

// MCP's own conformance suite (the scenarios for any server, not those for a library's fixtures) and the MCP inspector,
// both run from the command line.

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

/** `misses`: ids of the checks of a scenario that this server is known to fail. */
const scenarios: [revision: string, scenario: string, misses: string[]][] = [
  ['2026-07-28', 'http-header-validation', []],
  ['2026-07-28', 'sep-2164-resource-not-found', []],
  ['2026-07-28', 'dns-rebinding-protection', []],
  ['2025-11-25', 'server-initialize', []],
  ['2026-07-28', 'tools-list', []],
  ['2026-07-28', 'resources-list', []],
  ['2026-07-28', 'caching', ['sep-2549-prompts-list-caching-hints']], // there are no prompts
  [
    '2026-07-28',
    'server-stateless',
    [
      // These call tools that only the suite's own server has.
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-missing-capability-http-400',
      'sep-2575-server-no-log-without-loglevel',
      'sep-2575-server-rejects-undeclared-capability',
      // Nothing here changes while a client listens: subscriptions are refused.
      'sep-2575-server-sends-subscription-ack',
      'sep-2575-server-tags-subscription-id',
    ],
  ],
  ['2025-11-25', 'ping', []],
  ['2025-11-25', 'tools-list', []],
]

test.each(scenarios.slice(0, rounds(3, 10)))('%s: %s', { tags: ['rounds'] }, async (revision, scenario, misses) => {
  const checks = await checksOf(revision, scenario)
  expect(checks.length).toBeGreaterThan(0)
  const failed = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'SKIPPED' && status !== 'INFO')
  expect(failed.map(({ id }) => id).sort()).toEqual(misses)
})

test('the inspector lists every tool, as it is defined', async () => {
  const { tools } = JSON.parse(await inspected('tools/list')) as { tools: { name: string; inputSchema: object }[] }
  const schemaOf = { target: 'draft-2020-12' } as const
  expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toMatchObject(
    createTools().map(({ name, input }) => [name, input['~standard'].jsonSchema.input(schemaOf)]),
  )
})

/** Output of the inspector for a method, as JSON text. */
function inspected(method: string): Promise<string> {
  const folder = join(root, 'node_modules', '@modelcontextprotocol', 'inspector-cli', 'build')
  const args = [join(folder, 'index.js'), `${api.url}/mcp`, '--transport', 'http', '--method', method]
  return new Promise((resolve, reject) => {
    // The inspector reads its version from the folder it runs in.
    execFile(process.execPath, args, { cwd: folder }, (failed, stdout, stderr) => {
      if (failed) reject(new Error(`${method}: ${stdout}\n${stderr}`))
      else resolve(stdout)
    })
  })
}

/** Checks of one run of a scenario, with their statuses. */
function checksOf(revision: string, scenario: string): Promise<{ id: string; status: string }[]> {
  const modules = join(root, 'node_modules')
  const program = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  const args = ['server', '--url', `${api.url}/mcp`, '--scenario', scenario, '--spec-version', revision, '--verbose']
  return new Promise((resolve, reject) => {
    // The suite needs a newer Node than the service does: the one that the lock file pins.
    execFile(join(modules, '.bin', 'node'), [program, ...args], (_failed, stdout, stderr) => {
      const found = /^\[$[\s\S]*?^\]$/m.exec(stdout)
      if (found) resolve(JSON.parse(found[0]))
      else reject(new Error(`no checks: ${stdout}\n${stderr}`))
    })
  })
}
