import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeAudit } from '../../db/queries/chain/audit.ts'
import { followHub } from '../../db/queries/sources/hub-standing.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { canonicalJson, type Json, jsonSha256 } from '../../trust/canonical-json.ts'
import { type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'
import { insert } from '../support/seed.ts'
import { root } from '../support/source-files.ts'

const kinds = derivations.filter(({ kind }) => kind.startsWith('logged '))
let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

interface Entry {
  readonly type: string
  readonly [field: string]: Json
}

/** The entries of a type, once all that is marked is appended; each entry of the log is canonical. */
async function entries(type: string): Promise<Entry[]> {
  const { pool } = stage.database
  await settle(kinds, { pool, now: () => new Date(), settlementOverloads: 'spec' })
  const { rows } = await pool.query<{ entry: Buffer }>('select entry from transparency_entry order by index')
  return rows
    .map(({ entry }) => {
      const said = JSON.parse(String(entry)) as Entry
      expect(String(entry)).toBe(canonicalJson(said))
      return said
    })
    .filter((entry) => entry.type === type)
}

interface Line {
  readonly seq: number
  readonly kind: string
  readonly fid: number
  readonly profile?: Readonly<Record<string, Json>>
}

async function servedLines(): Promise<Line[]> {
  stage.clock.now += 2_000 // what was read of it before is old
  const body = await (await stage.api.get('/data/log.ndjson')).text()
  return body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** The fields of a profile that a digest is over, as docs/log.md lists them. */
async function digestedFields(): Promise<string[]> {
  const text = await readFile(join(root, 'docs/log.md'), 'utf8')
  const [, listed = ''] =
    /The digest of a change is .* of these fields of the line's profile:([^.]*)\./s.exec(text) ?? []
  return [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)
}

test('each change of the directory is an entry with the digest of what its line shows, and no words of anybody', async () => {
  const { pool } = stage.database
  const claimants = [await stage.claimant(), await stage.claimant()]
  const name = 'Ada "\\" \u2028\u007f\u0001 \t ß 🦆'
  for (const { fid } of claimants)
    await insert(pool, 'social_profile', {
      fid,
      handle: `ada${fid}`,
      display_name: name,
      bio: name,
      updated_at: new Date(),
    })
  for (const one of claimants) expect((await post(stage.api, await eip191Claim(stage, one))).status).toBe(200)
  const changes = await entries('change')
  const fields = await digestedFields()
  expect(fields.length).toBeGreaterThan(15)
  for (const { fid } of claimants) {
    const line = (await servedLines()).findLast((one) => one.fid === fid)!
    expect(line.profile).toMatchObject({ display_name: expect.stringContaining('Ada'), claimed: true })
    const told = Object.fromEntries(fields.map((field) => [field, line.profile![field] as Json]))
    const said = changes.filter((entry) => entry.fid === fid)
    const known = { type: 'change', seq: line.seq, fid, kind: 'upsert', at: expect.any(String) }
    expect(said.at(-1)).toEqual({ ...known, digest: jsonSha256(told) })
  }
  expect(JSON.stringify(changes)).not.toContain('Ada')

  const [one] = claimants
  stage.clock.now += 1_000
  const custody = { signer: one!.custody, address: one!.custody.address }
  const body = await eip191Claim(stage, one!, { action: 'unlist', ...custody })
  expect((await post(stage.api, body, { query: '/unlist' })).status).toBe(200)
  const line = (await servedLines()).findLast((other) => other.fid === one!.fid)!
  expect((await entries('change')).at(-1)).toEqual({
    type: 'change',
    seq: line.seq,
    fid: one!.fid,
    kind: 'delist',
    at: expect.any(String),
    digest: null,
  })
  const { rows } = await pool.query(`select seq from agent_change order by seq`)
  expect((await entries('change')).map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq))
})

test('certificates of blocks are entries with what the coverage shows of them, each time they grow', async () => {
  const { pool } = stage.database
  const backfill = { chain: 'base', from_block: 100, to_block: 199, sources: ['portal'] }
  await insert(pool, 'backfill', backfill)
  const sums = { settlements: 3, amount: '9007199254740993', checksum: '18446744073709551615' }
  await pool.query(
    `insert into backfill_shard (backfill_id, first_block, last_block, next_block, first_hash, last_hash, settlements, amount,
                                 checksum)
     select id, 100, 199, 200, '\\x11', '\\x22', ${sums.settlements}, ${sums.amount}, ${sums.checksum} from backfill`,
  )
  expect(await entries('certificate')).toEqual([]) // it is not loaded yet
  await pool.query('update backfill set completed_at = now()')
  const hash = `0x${'ab'.repeat(32)}`
  const none = { missing: 0, surplus: 0, changed: 0, unpaid: 0, events: 0, agents: 0, custody: 0 }
  const audit = {
    settlements: 1,
    amount: 5n,
    checksum: 7n,
    payments: 0,
    paymentChecksum: 0n,
    source: 'portal',
    ...none,
  }
  for (const [fromBlock, toBlock] of [
    [300, 309],
    [310, 319],
  ] as const) {
    await insert(pool, 'head_range', { chain: 'base', from_block: fromBlock, to_block: toBlock, next_block: fromBlock })
    await writeAudit(pool, 'base', { fromBlock, toBlock, firstHash: hash, lastHash: hash, ...audit } as never)
    await entries('certificate')
  }
  const served = (await (await stage.api.get('/api/coverage')).json()) as { chains: { certificates: Entry[] }[] }
  const shown = served.chains.flatMap(({ certificates }) => certificates)
  const said = await entries('certificate')
  expect(said.map(({ by, from_block, to_block }) => [by, from_block, to_block])).toEqual([
    ['backfill', 100, 199],
    ['audit', 300, 309],
    ['audit', 300, 319],
  ])
  for (const [at, entry] of [said[0], said[2]].entries()) {
    const { by, from_block, to_block, amount, checksum, first_hash, last_hash, certified_at } = shown[at] as Entry
    expect(entry).toMatchObject({ by, from_block, to_block, amount, checksum, first_hash, last_hash, at: certified_at })
    expect([Number(entry!.settlements), Number(entry!.payments)]).toEqual([shown[at]!.settlements, shown[at]!.payments])
  }
})

test('the hub that is followed is an entry from when it is, by its host alone', async () => {
  const { pool } = stage.database
  const at = new Date('2026-11-01T00:00:00.123Z')
  for (const url of ['https://key:secret@one.example/path', 'https://two.example']) {
    await insert(pool, 'hub_standing', { url, checked_at: at, witness: false })
  }
  expect(await entries('hub')).toEqual([])
  await followHub(pool, 'https://key:secret@one.example/path', at)
  await entries('hub')
  await pool.query('update hub_standing set checked_at = now()')
  await followHub(pool, 'https://two.example', new Date(at.getTime() + 1_000))
  expect(await entries('hub')).toEqual([
    { type: 'hub', host: 'one.example', at: '2026-11-01T00:00:00.123Z' },
    { type: 'hub', host: 'two.example', at: '2026-11-01T00:00:01.123Z' },
  ])
})
