import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { ensureFacilitatorRows, facilitatorListSource, facilitators } from '../../../db/facilitator-list.ts'
import { addSubjects } from '../../../db/queries/sources/source-state.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { facilitatorSigners } from '../../../enrichment/facilitators/source.ts'
import { signersOf } from '../../../enrichment/facilitators/supported.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { type Canned, type CannedServer, serveCanned } from '../../doubles/canned.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, seedVerification } from '../../support/seed.ts'

const database = testDatabase()
let server: CannedServer
const answers = new Map<string, Canned>()
beforeAll(async () => {
  server = await serveCanned((path) => answers.get(path) ?? { status: 404, body: '' })
})
afterAll(() => server.stop())
beforeEach(async () => {
  answers.clear()
  await database.pool.query('truncate facilitator_sender, facilitator_signer, source_state, verified_address')
  await ensureFacilitatorRows(database.pool)
})

const day = 86_400_000
const clock = createClock('2026-06-01T00:00:00Z')
const [first, second, third] = ['first', 'second', 'third'].map((name) => addressOf(`signer ${name}`)) as [
  string,
  string,
  string,
]
/** An answer of /supported, version 2 of x402, in its documented form. */
const supported = (signers: Record<string, unknown>, kinds: unknown[] = []) => ({
  body: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }, ...kinds], extensions: [], signers },
})

/** Reads the signers of facilitators `One` and `Other`, a week later so that they are due; the outcomes, sorted. */
async function ask(): Promise<readonly string[]> {
  const { pool } = database
  const { host } = new URL(server.url)
  const egressAllow = parseEgressAllow(host)
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.example)', egressAllow })
  const hosts = createAgentHosts({ door, egressAllow, now: clock.now })
  onTestFinished(() => hosts.host.stop())
  const asked = ['One', 'Other'].map((name) => ({ name, api: `${server.url}/${name}` }))
  clock.pass(8 * day)
  const subjects = asked.map(({ name }) => `facilitator:${name}`)
  const source = facilitatorSigners({ hosts, facilitators: asked })
  await addSubjects(pool, source.name, subjects, { priority: 0, dueAt: clock.now() })
  return (await runPass(source, { pool, now: clock.now, random: () => 0.5, failed: () => {} })).outcomes.toSorted()
}

/** Senders named by a facilitator itself, not by the list, as `[address, name, source]`. */
async function named(): Promise<string[][]> {
  const { rows } = await database.pool.query(
    `select '0x' || encode(address, 'hex') as address, name, source from facilitator_sender
      where source <> $1 order by name, address`,
    [facilitatorListSource],
  )
  return rows.map(({ address, name, source }) => [address, name, source])
}

test('accounts that a facilitator names are its senders under the name of the list, and go when it names them no more', async () => {
  const { host } = new URL(server.url)
  answers.set(
    '/One/supported',
    supported({ 'eip155:*': [first.toUpperCase().replace('0X', '0x')], 'solana:*': ['5xvh'] }),
  )
  answers.set('/Other/supported', supported({ 'eip155:137': [second, third] }))
  expect(await ask()).toEqual(['ok', 'ok'])
  const ofOther = [second, third].sort().map((address) => [address, 'Other', host])
  expect(await named()).toEqual([[first, 'One', host], ...ofOther])

  answers.set('/Other/supported', supported({}))
  answers.set('/One/supported', { status: 503, body: '' })
  expect(await ask()).toEqual(['empty', 'http_503'])
  expect(await named()).toEqual([[first, 'One', host]])
})

test('a facilitator that lies takes no name away and gets nobody else’s account', async () => {
  const { pool } = database
  const { name, senders } = facilitators.find((one) => one.senders.length > 0) as (typeof facilitators)[number]
  const [listed] = senders as [string]
  await seedVerification(pool, { fid: 7, address: third, endedAt: new Date('2026-05-01T00:00:00Z') })
  answers.set('/One/supported', supported({ 'eip155:*': [first] }))
  answers.set('/Other/supported', supported({ 'eip155:*': [first, second, third, listed] }))
  expect(await ask()).toEqual(['ok', 'ok'])
  expect((await named()).map(([address]) => address)).toEqual([second])
  const { rows } = await pool.query(`select name, source from facilitator_sender where address = decode($1, 'hex')`, [
    listed.slice(2),
  ])
  expect(rows).toEqual([{ name, source: facilitatorListSource }])
  // What the list learns later is the list's.
  await pool.query(`update facilitator_sender set name = 'Other', source = 'other' where address = decode($1, 'hex')`, [
    listed.slice(2),
  ])
  await ensureFacilitatorRows(pool)
  expect((await named()).map(([address]) => address)).toEqual([second])
})

test.each<[string, Canned, string]>([
  ['too large', { body: 'x'.repeat(600 * 1024) }, 'too_large'],
  ['no JSON', { body: '<html>' }, 'not_json'],
  ['of another form', { body: { signers: { 'eip155:*': 'all' } } }, 'schema_mismatch'],
  ['empty', { body: {} }, 'schema_mismatch'],
  ['an error with status 200', { body: { error: 'rate limited' } }, 'schema_mismatch'],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example' }, body: '' }, 'redirect_refused'],
  [
    'a list without end',
    supported({ 'eip155:*': Array.from({ length: 501 }, (_, at) => addressOf(`${at}`)) }),
    'schema_mismatch',
  ],
])('an answer that is %s changes nothing', async (_, answer, outcome) => {
  answers.set('/One/supported', supported({ 'eip155:*': [first] }))
  answers.set('/Other/supported', supported({}))
  await ask()
  const before = await named()
  expect(before).toHaveLength(1)
  answers.set('/One/supported', answer)
  expect(await ask()).toContain(outcome)
  expect(await named()).toEqual(before)
})

test('what is no account of an EVM chain is passed over', () => {
  const strange = ['', '0x', `0x${'0'.repeat(40)}`, `${first}00`, 'name.eth', `\u202e${first}`]
  expect(
    signersOf({ signers: { 'eip155:*': [...strange, first, first], 'eip155:': [second], EIP155: [second] } }),
  ).toEqual([first])
  expect(signersOf({ kinds: [] })).toEqual([])
  expect(signersOf([])).toBeUndefined()
  expect(signersOf(null)).toBeUndefined()
})
