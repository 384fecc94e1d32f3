import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claimProof } from '../../api/schemas/claims/proof.ts'
import { AgentDirectory, verifySigned } from '../../client/client.ts'
import { claimHistory } from '../../db/queries/claims/provable-claims.ts'
import { readClaimLog } from '../../db/queries/transparency/claim-log.ts'
import { lastCheckpoint } from '../../db/queries/transparency/tree.ts'
import { deriveAgain } from '../../derive/again.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { comparison } from '../../derive/transparency.ts'
import { checkpointText, epochOf, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { leafHash } from '../../transparency/hashes.ts'
import { entriesOf, tilesOf } from '../../transparency/log-files.ts'
import { type LogSigner, makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { openNote } from '../../transparency/note.ts'
import { isConsistent, isIncluded, type TreeHead } from '../../transparency/proofs.ts'
import { tilePath } from '../../transparency/tiles.ts'
import { consistencyProof, inclusionProof, rootOf } from '../../transparency/tree.ts'
import { sealClaimEvent } from '../../trust/claim-event.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import { type ClaimLog, type ClaimProof, sealProof } from '../../trust/proof/proof.ts'
import { storedRows } from '../derive/again.ts'
import { failure } from '../support/api/api.ts'
import { type Claimant, type ClaimStage, eip191Claim, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'
import { runMain } from '../support/mains.ts'
import { keepLog } from './put-back.ts'

const kinds = derivations.filter(({ kind }) => kind.startsWith('logged '))
let stage: ClaimStage
let log: LogSigner
const folders: string[] = []
beforeAll(async () => {
  stage = await startClaimStage()
  log = await newKey()
})
afterAll(() => Promise.all([stage.stop(), ...folders.map((folder) => rm(folder, { recursive: true }))]))

async function newKey(url = 'https://api.agents.example'): Promise<LogSigner> {
  const folder = await mkdtemp(join(tmpdir(), 'log-key-'))
  const path = join(folder, 'key.pem')
  makeLogKey(path)
  const made = readLogKey(path, url)
  makeLogKey(path)
  expect(readLogKey(path, url).key).toBe(made.key)
  folders.push(folder)
  return made
}

const context = () => ({ pool: stage.database.pool, now: () => new Date(), settlementOverloads: 'spec' as const, log })
async function append(): Promise<void> {
  await settle(kinds, context())
  stage.clock.now += 2_000 // what the service has read of the log before is old
}
const accepted = async (body: unknown, query = '') => expect((await post(stage.api, body, { query })).status).toBe(200)
const bytes = async (path: string) => {
  const answer = await stage.api.get(`/log/${path}`)
  expect(answer.status, path).toBe(200)
  return { answer, body: Buffer.from(await answer.arrayBuffer()) }
}

/** The log as a reader has it: what is signed, its files, and the entries. */
async function read(under = '') {
  const note = (await bytes('checkpoint')).body.toString()
  const key = (await bytes('key')).body.toString().trim()
  const { origin, size, root } = parseCheckpoint(openNote(note, key))
  const readFile = async (path: string) => (await bytes(`${under}${path}`)).body
  const readTile = tilesOf(size, readFile)
  const entries = size === 0 ? [] : await entriesOf(0, size, readFile)
  return { origin, key, size, root, readTile, entries }
}

/** What the entries say of what an account said. */
const ofFid = (entries: readonly Buffer[], { fid }: Claimant) =>
  entries.map((entry) => JSON.parse(String(entry))).filter((entry) => entry.fid === fid && entry.type !== 'change')

test('claims, withdrawals and words on listing are entries of a signed tree that only grows', async () => {
  const unsigned = await stage.api.get('/log/checkpoint')
  expect(await failure(unsigned)).toMatchObject({ status: 404, detail: expect.stringContaining('LOG_KEY_FILE') })

  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  await accepted(jfsClaim(stage, claimant))
  await append()
  const before = await read()
  expect([before.origin, before.key]).toEqual(['api.agents.example/log', log.key])
  expect(before.root).toEqual(await rootOf(before.size, before.readTile))

  const custody = { signer: claimant.custody, address: claimant.custody.address }
  for (const action of ['withdraw', 'unlist', 'relist'] as const) {
    stage.clock.now += 1_000
    await accepted(await eip191Claim(stage, claimant, { action, ...custody }), `/${action}`)
  }
  await append()
  const after = await read()
  const proof = await consistencyProof(before.size, after.size, after.readTile)
  expect(isConsistent(before, after, proof)).toBe(true)
  expect(after.entries.slice(0, before.size)).toEqual(before.entries)
  for (const [index, entry] of after.entries.entries()) {
    const hashes = await inclusionProof(index, after.size, after.readTile)
    expect(isIncluded({ index, leaf: leafHash(entry) }, after, hashes)).toBe(true)
  }

  const events = await claimHistory(stage.database.pool, claimant.fid)
  const said = ofFid(after.entries, claimant)
  expect(said.filter(({ type }) => type === 'claim')).toEqual(
    events.map(({ seq, at, kind, sha256 }) => {
      const known = { type: 'claim', fid: claimant.fid, seq, at, event: kind, digest: sha256 }
      return { ...known, proof: expect.stringMatching(/^[0-9a-f]{64}$/) }
    }),
  )
  expect(said.map(({ type, event }) => event ?? type)).toEqual([
    'claimed',
    'claimed',
    'ended',
    'ended',
    'unlist',
    'relist',
  ])
  expect(Object.keys(said.at(-1)).sort()).toEqual(['at', 'fid', 'proof', 'type'])
})

test('the tree is served as files for ever, outside the limits, as far as it is signed', async () => {
  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  await append()
  const { size } = await read()
  const { answer } = await bytes(`tile/${tilePath({ level: 0, number: 0, width: size })}`)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  const entries = await bytes(`tile/entries/${tilePath({ level: 0, number: 0, width: size }).slice('0/'.length)}`)
  const checkpoint = await bytes('checkpoint')
  expect(Object.fromEntries(checkpoint.answer.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'public, max-age=5',
  })
  for (const { headers } of [answer, entries.answer, checkpoint.answer]) {
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  }
  const shorter = await bytes(`tile/${tilePath({ level: 0, number: 0, width: 1 })}`)
  expect(shorter.body).toHaveLength(32)
  for (const path of [tilePath({ level: 0, number: 0, width: size + 1 }), '0/000', '1/000.p/1', '0/0', 'entries/001']) {
    expect((await stage.api.get(`/log/tile/${path}`)).status, path).toBe(404)
  }
  for (const path of ['1/checkpoint', '01/checkpoint', '1/key', '1/tile/0/000.p/1', '+1/tile/0/000.p/1']) {
    expect((await stage.api.get(`/log/${path}`)).status, path).toBe(404)
  }
  const posted = await stage.api.get('/log/checkpoint', { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([404, 'GET, HEAD, OPTIONS'])
})

test('however many claim and append at once, entries have numbers without gaps, and each fact one', async () => {
  const claimants = await Promise.all(Array.from({ length: 4 }, () => stage.claimant()))
  const bodies = await Promise.all(claimants.flatMap((one) => [eip191Claim(stage, one), eip191Claim(stage, one)]))
  await Promise.all([...bodies.map((body) => accepted(body)), append(), append(), append()])
  await append()
  const { rows } = await stage.database.pool.query('select index, subject from transparency_entry order by index')
  expect(rows.map(({ index }) => index)).toEqual(rows.map((_, place) => place))
  const { entries } = await read()
  for (const one of claimants) expect(ofFid(entries, one).map(({ seq }) => seq)).toEqual([1, 2])

  const stored = await storedRows(stage.database.pool)
  expect(await deriveAgain({ kinds, context: context(), tell: () => {} })).toBe(0)
  expect(await storedRows(stage.database.pool)).toEqual(stored)
})

test('a fact that is rolled back is no entry, and an entry is neither changed nor removed', async () => {
  const { pool } = stage.database
  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  const client = await pool.connect()
  await client.query('begin')
  await client.query(`insert into claim_event (fid, method, nonce, kind, at, evidence)
    select fid, method, nonce, 'suspended', now(), '{}' from claim where fid = ${claimant.fid}`)
  await client.query('rollback')
  client.release()
  await append()
  expect(ofFid((await read()).entries, claimant)).toHaveLength(1)
  for (const text of [
    `update transparency_entry set entry = ''`,
    'delete from transparency_entry',
    'truncate transparency_entry',
  ])
    await expect(pool.query(text)).rejects.toThrow('transparency_entry is appended to and never changed')
})

describe('the proof of a claim that was withdrawn', () => {
  let proof: ClaimProof
  beforeAll(async () => {
    const claimant = await stage.claimant()
    await accepted(await eip191Claim(stage, claimant))
    await accepted(await eip191Claim(stage, await stage.claimant())) // so that the tree has another leaf
    stage.clock.now += 1_000
    const custody = { signer: claimant.custody, address: claimant.custody.address }
    await accepted(await eip191Claim(stage, claimant, { action: 'withdraw', ...custody }), '/withdraw')
    await append()
    stage.clock.now += 17 * 60_000 // proofs are public once what they show cannot be used elsewhere
    proof = (await (await stage.api.get(`/api/agent/${claimant.fid}/proof`)).json()) as ClaimProof
  })

  const lines = async (given: ClaimProof, key?: string) =>
    (await checkOffline(given, key)).filter(({ name }) => name.includes('log'))
  const failed = async (given: ClaimProof, key?: string) =>
    (await lines(given, key)).filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)
  const resealed = ({ sha256: _, ...others }: ClaimProof) => sealProof(others)
  const withLog = (change: Partial<ClaimLog>) => resealed({ ...proof, log: { ...(proof.log as ClaimLog), ...change } })
  const noted = ({ sign, origin }: LogSigner, change: Partial<TreeHead> = {}) => {
    const said = parseCheckpoint(openNote(proof.log!.checkpoint, log.key))
    return sign(checkpointText({ ...said, origin, ...change }))
  }

  test('shows that its first and last event are in the signed tree', async () => {
    expect(claimProof.parse(proof)).toEqual(proof)
    expect(await failed(proof)).toEqual([])
    expect((await lines(proof)).filter(({ outcome }) => outcome === 'unknown')).toMatchObject([
      { name: 'the log’s key is the one you know', detail: 'name it with --log-key' },
    ])
    const held = await lines(proof, log.key)
    expect(held.filter(({ outcome }) => outcome !== 'held')).toEqual([])
    expect(held.map(({ name }) => name)).toEqual(expect.arrayContaining(['the log has event 1', 'the log has event 2']))
  })

  test('can be had signed, with the same proof inside', async () => {
    const signing = await stage.another({ answerKeys: log.secrets })
    const directory = new AgentDirectory(signing.url)
    const path = `/api/agent/${proof.fid}/proof`
    const kept = await directory.signed(path)
    const said = await verifySigned(kept, await directory.signingKeys())
    expect([JSON.parse(said.body), said.path, said.checkpoint]).toEqual([proof, path, proof.log!.checkpoint])
    expect(await failed(JSON.parse(said.body), log.key)).toEqual([])
  })

  test('is found out when an event was written again, or the tree has another root', async () => {
    const [first, ...later] = proof.history
    const changed = sealClaimEvent({ ...first!, at: new Date(Date.parse(first!.at) + 1).toISOString() })
    const history = [changed]
    for (const event of later) history.push(sealClaimEvent({ ...event, previous: history.at(-1)!.sha256 }))
    const rewritten = resealed({ ...proof, claimed_at: changed.at, history })
    expect(await failed(rewritten, log.key)).toEqual(['the log has event 1', 'the log has event 2'])
    const other = withLog({ checkpoint: noted(log, { root: leafHash(Buffer.from('other')) }) })
    expect(await failed(other, log.key)).toEqual(['the log has event 1', 'the log has event 2'])
    const [entry, ...others] = proof.log!.entries
    const moved = withLog({ entries: [{ ...entry!, index: entry!.index + 1 }, ...others] })
    expect(await failed(moved, log.key)).toEqual(['the log has event 1'])
    const unnamed = withLog({ entries: [{ ...entry!, seq: 9 }, ...others] })
    expect(await failed(unnamed, log.key)).toEqual(['the log’s entries are of the claim'])
  })

  test('is found out when another key has signed, or it is the log of another service', async () => {
    const stranger = await newKey()
    const forged = withLog({ key: stranger.key, checkpoint: noted(stranger) })
    expect(await failed(forged)).toEqual([]) // nobody can tell without the key
    expect(await failed(forged, log.key)).toContain('the log is signed with its key')
    expect(await failed(withLog({ checkpoint: noted(stranger) }))).toContain('the log is signed with its key')
    const elsewhere = await newKey('https://other.example')
    const foreign = withLog({ key: elsewhere.key, checkpoint: noted(elsewhere) })
    expect(await failed(foreign)).toEqual(['the log is the service’s'])
    expect(await failed(resealed({ ...proof, log: null }), log.key)).toEqual(['the claim is in the log'])
  })

  test('is checked against the key that the command is given', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'logged-proof-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'proof.json')
    await writeFile(path, JSON.stringify(proof))
    const { stdout } = await runMain('trust/proof/main.ts', [path, '--log-key', (await newKey()).key])
    expect(stdout).toMatch(/^FAILED +the log is signed with its key /m)
  })
})

test('another key signs the tree that there is', async () => {
  const before = await read()
  log = await newKey()
  await stage.database.pool.query(`insert into due (kind, key) values ('logged facts', '${comparison}')`)
  await append()
  const after = await read()
  expect([after.key, after.size, after.root]).toEqual([log.key, before.size, before.root])
})

/** Keeps the log as it is, and gives what puts it back. */
async function backup(): Promise<() => Promise<void>> {
  const putBack = await keepLog(stage.database)
  return async () => {
    await putBack()
    stage.clock.now += 2_000
  }
}
const compare = () => stage.database.pool.query(`insert into due (kind, key) values ('logged facts', '${comparison}')`)

test('a database put back without entries that were signed is followed by a log that commits to them', async () => {
  await append()
  const putBack = await backup()
  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  await append()
  const lost = await read()
  await putBack()
  await compare()
  await append()

  const found = await read('2/')
  expect([found.origin, found.key]).toEqual(['api.agents.example/log/2', log.inEpoch(2).key])
  const before = { origin: lost.origin, size: lost.size, root: Buffer.from(lost.root).toString('base64') }
  expect(JSON.parse(String(found.entries[0]))).toMatchObject({ type: 'log', epoch: 2, before })
  expect(found.root).toEqual(await rootOf(found.size, found.readTile))
  const sorted = (entries: readonly Buffer[]) => entries.map(String).sort()
  expect(sorted(found.entries.slice(1))).toEqual(sorted(lost.entries)) // whose facts the database still has
  expect((await stage.api.get(`/log/tile/${tilePath({ level: 0, number: 0, width: 1 })}`)).status).toBe(404)
  expect((await stage.api.get('/log/2/checkpoint')).status).toBe(200)
  expect((await stage.api.get('/log/3/checkpoint')).status).toBe(404)

  stage.clock.now += 17 * 60_000
  const proof = (await (await stage.api.get(`/api/agent/${claimant.fid}/proof`)).json()) as ClaimProof
  const lines = (await checkOffline(proof, log.inEpoch(2).key)).filter(({ name }) => name.includes('log'))
  expect(lines.filter(({ outcome }) => outcome !== 'held')).toEqual([])
  expect(lines.map(({ name }) => name)).toContain('the log has event 1')

  await compare()
  await append()
  expect((await read('2/')).root).toEqual(found.root) // nothing is missing any more
  await putBack() // to before the second log
  await compare()
  await append()
  const third = await read('3/')
  expect(JSON.parse(String(third.entries[0]))).toMatchObject({
    epoch: 3,
    before: { origin: found.origin, size: found.size },
  })
})

test('a log behind another has all entries of an account in the order of its events', async () => {
  const { pool } = stage.database
  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  const happen = (first: number, last: number) =>
    pool.query(`insert into claim_event (fid, method, nonce, kind, at, evidence)
      select fid, method, nonce, case nth % 2 when 0 then 'resumed' else 'suspended' end, now(), '{}'
        from claim, generate_series(${first}, ${last}) nth where fid = ${claimant.fid} order by nth`)
  const putBack = await backup()
  await happen(1, 520) // more than a batch
  await append()
  await putBack()
  await happen(521, 521)
  await append()
  const { rows } = await pool.query(`select entry from transparency_entry
    where index >= (select max(first) from transparency_epoch) order by index`)
  const entries = rows.map(({ entry }) => entry as Buffer)
  expect(ofFid(entries, claimant).map(({ seq }) => seq)).toEqual(Array.from({ length: 522 }, (_, place) => place + 1))
})

test('while a log is followed by another, what is known of the first is not answered with tiles of the second', async () => {
  const { pool } = stage.database
  const claimant = await stage.claimant()
  await accepted(await eip191Claim(stage, claimant))
  await append()
  const putBack = await backup()
  await accepted(jfsClaim(stage, claimant))
  await append()
  await putBack()
  await compare()
  const { origin } = parseCheckpoint(
    openNote(String((await bytes('checkpoint')).body), (await lastCheckpoint(pool))!.key),
  )
  const logOf = await readClaimLog(pool)
  await settle(kinds, context())
  for (const tile of ['0/000.p/1', '0/000', 'entries/000.p/1']) {
    expect((await stage.api.get(`/log/${epochOf(origin)}/tile/${tile}`)).status, tile).toBe(404)
  }
  const { checkpoint, entries } = (await logOf(await claimHistory(pool, claimant.fid))) as ClaimLog
  expect(checkpoint).toBe((await lastCheckpoint(pool))?.note)
  expect(entries.map(({ seq }) => seq)).toEqual([1, 2])
  stage.clock.now += 2_000
})

test('a derivation without the key leaves the comparison to the job that has it', async () => {
  const marked = `select due_at > now() as later from due where kind = 'logged facts' and key = '${comparison}'`
  await stage.database.pool.query(`delete from due where key = '${comparison}'`)
  await compare()
  await settle(kinds, { ...context(), log: undefined })
  expect((await stage.database.pool.query(marked)).rows).toEqual([{ later: true }])
})

test('a checkpoint that is kept next to the key is not overlooked when it cannot be read', async () => {
  const path = join(folders.at(-1) as string, 'key.pem.checkpoint')
  const kept = await readFile(path, 'utf8')
  await writeFile(path, kept.replace('agents', 'angels'))
  await compare()
  await expect(append()).rejects.toThrow('is not what the job kept there')
  await writeFile(path, kept)
})
