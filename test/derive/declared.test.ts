import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveAgain } from '../../derive/again.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { testDatabase } from '../support/database.ts'
import { rounds } from '../support/rounds.ts'
import { addressOf, dropAgents, seedAgent } from '../support/seed.ts'

// What agents are found by of the registrations that they hold, by key, against all of them at once.

const database = testDatabase()
const declaring = derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations')
const minute = 60_000
const begin = Date.parse('2026-06-01T00:00:30Z')
const context = (now = begin) =>
  ({ pool: database.pool, now: () => new Date(now), settlementOverloads: 'spec' }) as const

const fids = [1, 2, 3]
const ids = [1, 2, 3, 4]

const stored = async () =>
  (await database.pool.query('select fid, declared, most_feedback from searched_agent order by fid')).rows

/** The same, of the documents and totals themselves. */
async function meant() {
  const { rows } = await database.pool.query(`
    select a.fid, max(coalesce(t.standing, 0)) filter (where r.id is not null) as most_feedback,
           coalesce(array_agg(distinct said.term collate "C") filter (where r.id is not null and said.term is not null), '{}') as declared
      from agent a
      left join agent_holding h on h.fid = a.fid and h.reason is null
      left join registration r on r.chain = h.chain and r.agent_id = h.agent_id and not r.burned
      left join feedback_total t on t.chain = h.chain and t.agent_id = h.agent_id
      left join registration_document d on d.chain = h.chain and d.agent_id = h.agent_id
      left join lateral (
        select 'active:' || d.active as term union all select 'x402:' || d.x402_support
         union all select 'trust:' || lower(model) from json_array_elements_text(d.supported_trust) model) said on true
     group by a.fid order by a.fid`)
  return rows.map(({ fid, declared, most_feedback }) => ({ fid, declared, most_feedback }))
}

const of = { fid: fc.constantFrom(...fids), id: fc.constantFrom(...ids) }
const step = fc.oneof(
  fc.record({ what: fc.constant('hold' as const), ...of }),
  fc.record({ what: fc.constant('let go' as const), ...of }),
  fc.record({ what: fc.constant('burn' as const), ...of }),
  fc.record({
    what: fc.constant('say' as const),
    ...of,
    active: fc.constantFrom(true, false, null),
    x402: fc.constantFrom(true, false, null),
    trust: fc.subarray(['Reputation', 'tee-attestation', "it's"]),
  }),
  fc.record({ what: fc.constant('rate' as const), ...of, standing: fc.nat(3) }),
  fc.record({ what: fc.constant('delist' as const), ...of }),
  fc.record({ what: fc.constant('list' as const), ...of }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function play(one: Step) {
  const { pool } = database
  const { what, fid, id } = one
  if (what === 'list') {
    const { rowCount } = await pool.query('select from agent where fid = $1', [fid])
    if (rowCount === 0) await seedAgent(pool, { fid })
  } else if (what === 'delist') await dropAgents(pool, 'fid = $1', [fid])
  else if (what === 'hold')
    await pool.query(
      `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at)
       values ($1, 'base', $2, '\\x00', 1, 0, now()) on conflict (fid, chain, agent_id, acquired_block, acquired_log_index)
           do update set reason = null`,
      [fid, id],
    )
  else if (what === 'let go')
    await pool.query(`update agent_holding set reason = 'transfer' where fid = $1 and agent_id = $2`, [fid, id])
  else if (what === 'burn') await pool.query('update registration set burned = not burned where agent_id = $1', [id])
  else if (what === 'rate') {
    await pool.query(
      `insert into feedback_total (chain, agent_id, standing, revoked) values ('base', $1, $2, 0)
           on conflict (chain, agent_id) do update set standing = excluded.standing`,
      [id, one.standing],
    )
    // As the feedback that moves the total does.
    await pool.query(`insert into due (kind, key) values ('searched registrations', 'base:' || $1::text)`, [id])
  } else
    await pool.query(
      `insert into registration_document (chain, agent_id, uri_sha256, uri_status, active, x402_support, supported_trust,
                                          tried_uri_sha256, updated_at)
       values ('base', $1, '\\x00', 'ok', $2, $3, $4, '\\x00', now())
           on conflict (chain, agent_id) do update
          set (active, x402_support, supported_trust) = (excluded.active, excluded.x402_support, excluded.supported_trust)`,
      [id, one.active, one.x402, JSON.stringify(one.trust)],
    )
}

async function empty() {
  const { pool } = database
  await pool.query(
    `truncate agent, searched_agent, agent_holding, registration, registration_document, feedback_total, searched_registration,
              large_holder, due`,
  )
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'base-' || n, 'base', n, $1, false, 1, now(), '\\x00', 1, now(), 1, now() from unnest($2::int[]) n`,
    [Buffer.from(addressOf('an owner').slice(2), 'hex'), ids],
  )
  for (const fid of fids) await seedAgent(pool, { fid })
}

test('whatever registrations say and whoever holds them, agents are found by that and by nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), fc.nat(4), async (steps, every) => {
      await empty()
      for (const [n, one] of steps.entries()) {
        await play(one)
        if (n % (every + 1) === 0) await settle(declaring, context())
      }
      await settle(declaring, context())
      const kept = await stored()
      expect(kept).toEqual(await meant())
      await deriveAgain({ kinds: declaring, context: context(), tell: () => {} })
      expect(await stored()).toEqual(kept)
    }),
    { numRuns: rounds(12, 60) },
  )
})

test('of a large holder all registrations are read once a minute, however often one of them changes', async () => {
  await empty()
  const { pool } = database
  await play({ what: 'hold', fid: 1, id: 1 })
  await settle(declaring, context())
  await pool.query('insert into large_holder (fid) values (1)')
  await play({ what: 'rate', fid: 1, id: 1, standing: 3 })
  await settle(declaring, context())
  await play({ what: 'rate', fid: 1, id: 1, standing: 2 })
  await settle(declaring, context(begin + 29_000))
  expect(await stored()).toMatchObject([{ fid: 1, most_feedback: 0 }, { fid: 2 }, { fid: 3 }])
  await settle(declaring, context(begin + minute))
  expect(await stored()).toEqual(await meant())
  expect((await pool.query(`select key from due where kind = 'declarations'`)).rows).toEqual([])
})

/** Registrations that an agent holds and whose documents name as many models of 400 bytes with their prefix, with `active` set. */
async function declare(held: readonly { id: number; unsolicited: boolean; word: string; models: number }[]) {
  await empty()
  for (const { id, unsolicited, word, models } of held) {
    await play({ what: 'hold', fid: 1, id })
    await database.pool.query('update agent_holding set unsolicited = $2 where agent_id = $1', [id, unsolicited])
    const trust = Array.from({ length: models }, (_, n) => `${word}${n}`.padEnd(394, '-'))
    await play({ what: 'say', fid: 1, id, active: !unsolicited, x402: null, trust })
  }
  await settle(declaring, context())
  const [{ declared }] = await stored()
  return {
    bytes: Buffer.byteLength(declared.join('')),
    flags: declared.filter((term: string) => !term.startsWith('trust:')),
    of: (word: string) => declared.filter((term: string) => term.startsWith(`trust:${word}`)).length,
  }
}

test('what documents of strangers declare comes behind an agent’s own, and takes no place from it', async () => {
  const { of, flags, bytes } = await declare([
    { id: 1, unsolicited: true, word: 'a', models: 100 },
    { id: 2, unsolicited: false, word: 'z', models: 100 },
  ])
  expect(flags).toEqual(['active:false', 'active:true'])
  expect([of('z'), of('a')]).toEqual([100, 63])
  expect(bytes).toBeLessThanOrEqual(64 * 1024)
})

test('an agent is found by 64 KiB of what its documents declare, and whether it is active among them', async () => {
  const { of, flags, bytes } = await declare([
    { id: 1, unsolicited: false, word: 'a', models: 120 },
    { id: 2, unsolicited: false, word: 'b', models: 120 },
  ])
  expect(flags).toEqual(['active:true'])
  expect([of('a'), of('b')]).toEqual([120, 43])
  expect(bytes).toBeGreaterThan(63 * 1024)
  expect(bytes).toBeLessThanOrEqual(64 * 1024)
})
