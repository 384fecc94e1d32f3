import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chainNames } from '../../../config/chains.ts'
import { deriveAgents } from '../../../db/queries/agents/agents.ts'
import { storeVerifiedSet } from '../../../enrichment/socialindex/fids.ts'
import { mostDelaySeconds } from '../../../social/hub-staleness.ts'
import {
  differencesOfSearched,
  followedFids,
  type History,
  modelAgents,
  storedAgents,
} from '../../support/agent-model.ts'
import { chainRows, type Token, wallet } from '../../support/chain/rows.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { runJoin, runLargeHolders } from '../passes.ts'

const database = testDatabase()

const tokens: Token[] = [
  { chain: 'base', id: 0 },
  { chain: 'ethereum', id: 2n ** 256n - 1n },
]
const addresses = [1, 2, 3].map(wallet)
const fids = [1, 2, 3]
const histories = rounds(15, 30)
const steps = { minLength: 10, maxLength: 80 }

/** What can happen, seconds after what happened before. */
const step = fc.record({
  seconds: fc.constantFrom(0, 1, 60),
  joined: fc.boolean(),
  what: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('transfer' as const),
        token: fc.nat(1),
        to: fc.integer({ min: -1, max: 2 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const), token: fc.nat(1) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('verify' as const), fid: fc.nat(2), address: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('unverify' as const), fid: fc.nat(2), address: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('claim' as const), fid: fc.nat(2) }) },
  ),
})

test('whatever happened in whatever order, the index is what the rules make of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, steps), fc.subarray(fids), async (steps, large) => {
      await empty()
      await database.pool.query('insert into large_holder (fid) select unnest($1::bigint[])', [large])
      const history = await live(steps)
      expect(await storedAgents(database.pool)).toEqual(modelAgents(history))
      expect(await differencesOfSearched(database.pool)).toEqual([])
      await nothingIsWrittenAnew()
      expect(await followedFids(database.pool)).toEqual((await storedAgents(database.pool)).map(({ fid }) => fid))
    }),
    { numRuns: histories },
  )
})

async function live(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): Promise<History> {
  const history: History = { transfers: [], verifications: [], claims: [] }
  const rows = chainRows(database.pool)
  let at = Date.parse('2026-03-01T00:00:00Z')
  let moment = 0
  for (const { seconds, joined, what } of steps) {
    at += seconds * 1000
    const now = new Date(at + ++moment)
    if (what.kind === 'transfer') {
      const token = tokens[what.token]!
      const from = history.transfers.findLast((one) => one.token === token)?.to ?? null
      const to = addresses[what.to] ?? null
      if (from === null && to === null) continue
      const block = await rows.transfer(token, from, to, new Date(at))
      history.transfers.push({ token, from, to, block, at })
    } else if (what.kind === 'undo') {
      const token = tokens[what.token]!
      await rows.undo(token)
      const last = history.transfers.findLastIndex((one) => one.token === token)
      if (last >= 0) history.transfers.splice(last, 1)
    } else if (what.kind === 'claim') {
      const fid = fids[what.fid]!
      await claim(fid, moment, now)
      history.claims.push({ fid, method: `method-${moment}`, at: now.getTime() })
    } else {
      const fid = fids[what.fid]!
      verifyInMemory(history, { fid, address: addresses[what.address]!, kind: what.kind, at, now: now.getTime() })
      const own = history.verifications.filter((one) => one.fid === fid && one.endedAt === null)
      const set = own.map(({ address, verifiedAt }) => ({ address, verifiedAt: new Date(verifiedAt) }))
      const hub = 'https://hub.example'
      // Asked so late that the hub knows all that happened.
      const askedAt = new Date(now.getTime() + mostDelaySeconds * 1_000)
      const told = { fid, live: set, askedAt, now }
      const stored = await storeVerifiedSet(database.pool, told, hub)
      // A set ends only after two empty answers an hour apart: the first is backdated, then repeated.
      if (stored === 'emptied')
        await database.pool.query(`update emptied_account set first_empty_at = first_empty_at - interval '1 hour'`)
      if (stored === 'emptied') await storeVerifiedSet(database.pool, told, hub)
    }
    if (joined) await join(now)
  }
  await join(new Date(at + 1_000))
  return history
}

function verifyInMemory(
  { verifications }: History,
  { fid, address, kind, at, now }: { fid: number; address: string; kind: string; at: number; now: number },
) {
  const rows = verifications.filter((one) => one.fid === fid && one.address === address)
  const open = rows.find(({ endedAt }) => endedAt === null)
  if (kind === 'unverify') {
    if (open) open.endedAt = now
  } else if (!open) {
    const same = rows.find(({ verifiedAt }) => verifiedAt === at)
    if (same) same.endedAt = null
    else verifications.push({ fid, address, verifiedAt: at, endedAt: null })
  }
}

async function join(now: Date) {
  const options = { pool: database.pool, now: () => now, settlementOverloads: 'spec', lookups: false } as const
  for (let work = 1; work > 0; ) {
    work = await runJoin(options)
    await database.pool.query(`update due set due_at = '-infinity' where kind = 'large holders'`)
    work += await runLargeHolders(options)
  }
}

async function claim(fid: number, number: number, at: Date) {
  await database.pool.query(
    `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, claimed_at, verified_addresses)
     values ($1, $2, $3, '{}', '', '', $4, $4, '{}')`,
    [fid, `method-${number}`, `nonce${number}`, at],
  )
}

/** Asserts that deriving all agents again writes nothing: no row gets a new version (ctid, xmin). */
async function nothingIsWrittenAnew() {
  const versions = async () => {
    const { rows } = await database.pool.query(
      `select 'agent' as kind, ctid::text, xmin::text from agent
        union all select 'holding', ctid::text, xmin::text from agent_holding order by 1, 2`,
    )
    return rows
  }
  const before = await versions()
  const options = { fids, chainOrder: chainNames, now: new Date('2027-01-01') }
  expect(await deriveAgents(database.pool, options)).toEqual([])
  expect(await versions()).toEqual(before)
}

async function empty() {
  await database.pool.query(
    `truncate registration, registration_transfer, verified_address, claim, agent, searched_agent, agent_words, agent_holding, agent_change,
              due, source_state, large_holder, emptied_account`,
  )
}
