import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { cosigner } from '../../transparency/cosignature.ts'
import { partsOf } from '../../transparency/note.ts'
import type { Askable } from '../../trust/proof/ask.ts'
import type { ClaimProof } from '../../trust/proof/proof.ts'
import { verify } from '../../trust/proof/verify.ts'
import { runMain } from '../support/mains.ts'
import { proofOf, resealed } from '../trust/proof.ts'
import { HeldLog, newPem, serveLogs } from './held-log.ts'

const entriesUpTo = (count: number) => Array.from({ length: count }, (_, index) => Buffer.from(`entry ${index}`))
const pem = newPem()
const base = 'https://api.example'

let log: HeldLog
let server: Awaited<ReturnType<typeof serveLogs>>
let logUrl: string
beforeAll(async () => {
  server = await serveLogs(() => log)
  logUrl = `${server.urlFor('one')}/log`
})
afterAll(() => server.stop())
beforeEach(() => {
  log = new HeldLog(entriesUpTo(300), { pem, base })
})

/** A proof with what the log has signed last. */
async function shown(note?: string): Promise<ClaimProof> {
  const checkpoint = note ?? (await log.note())
  return resealed({ ...(await proofOf('eip191')), log: { key: log.signer.key, checkpoint, entries: [] } })
}
const offline = { rpc: new Map(), hubs: [] }
async function lineOf(name: RegExp, proof: ClaimProof, known: Partial<Askable>) {
  const [found, ...others] = (await verify(proof, { ...offline, ...known })).filter((one) => name.test(one.name))
  expect(others).toEqual([])
  return found && [found.outcome, ...(found.detail === undefined ? [] : [found.detail])]
}
const history = /of one history/

test('a checkpoint that the reader knows is compared with the tree of the proof', async () => {
  const checkpoint = await log.note()
  expect(await lineOf(history, await shown(), {})).toBeUndefined()
  expect(await lineOf(history, await shown(), { checkpoint })).toEqual(['held'])
  log.entries = entriesUpTo(600)
  const grown = await shown()
  expect(await lineOf(history, grown, { checkpoint })).toEqual(['unknown', 'name the log with --log URL'])
  expect(await lineOf(history, grown, { checkpoint, logUrl })).toEqual(['held'])
  const later = await log.note()
  log.entries = entriesUpTo(300)
  const older = await shown()
  log.entries = entriesUpTo(600)
  expect(await lineOf(history, older, { checkpoint: later, logUrl })).toEqual(['held'])
  const nowhere = await lineOf(history, grown, { checkpoint, logUrl: 'http://127.0.0.1:1/log' })
  expect(nowhere).toEqual(['unanswered', 'fetch failed'])
})

test.for([
  ['drops a leaf', () => log.entries.splice(20, 1), 'the tree of 401 entries does not begin with that of 300'],
  ['changes a leaf', () => log.entries.splice(20, 1, Buffer.from('x')), 'the tree of 402 entries does not begin with'],
  ['goes back', () => log.entries.splice(200), 'the log has no tile/0/000 for what it signed'],
] as const)('a service that %s is caught by a checkpoint of before', async ([what, lie, words]) => {
  const checkpoint = await log.note()
  lie()
  if (what !== 'goes back') log.entries.push(...entriesUpTo(402).slice(300))
  expect(await lineOf(history, await shown(), { checkpoint, logUrl })).toEqual([
    'failed',
    expect.stringContaining(words),
  ])
})

test('a service that shows two histories is caught by the checkpoint of another reader', async () => {
  const proof = await shown()
  log.entries.splice(299, 1, Buffer.from('x'))
  expect(await lineOf(history, proof, { checkpoint: await log.note() })).toEqual(['failed'])
})

test('a checkpoint of another log or key is no checkpoint of this one', async () => {
  const other = new HeldLog(entriesUpTo(300), { base: 'https://other.example' })
  const forged = new HeldLog(entriesUpTo(300), { base })
  for (const { note } of [other, forged].map((one) => ({ note: one.note() }))) {
    const proof = await shown()
    expect(await lineOf(/you know is signed/, proof, { checkpoint: await note })).toEqual([
      'failed',
      expect.any(String),
    ])
    expect(await lineOf(history, proof, { checkpoint: await note })).toBeUndefined()
  }
  const without = resealed({ ...(await proofOf('eip191')), log: null })
  expect(await lineOf(/log that you know/, without, { checkpoint: await log.note() })).toEqual([
    'failed',
    expect.any(String),
  ])
})

test('cosignatures are named, and checked with the keys of witnesses that the reader trusts', async () => {
  const witness = cosigner('witness.example/w1', newPem())
  const stranger = cosigner('witness.example/w2', newPem())
  const note = await log.note()
  const proof = await shown(note + witness.cosign(partsOf(note).text, 1_764_417_600))
  expect(await lineOf(/log is signed with/, proof, {})).toEqual(['held', 'and, by its word, by witness.example/w1'])
  const witnesses = [witness.key]
  expect(await lineOf(/is cosigned by/, proof, { witnesses })).toEqual(['held', 'at 2025-11-29T12:00:00.000Z'])
  expect(await lineOf(/is cosigned by/, await shown(), { witnesses })).toEqual([
    'unknown',
    'the checkpoint has no signature of it',
  ])
  expect(await lineOf(/is cosigned by/, proof, { witnesses: [stranger.key] })).toEqual(['unknown', expect.any(String)])
  const wrong = await shown(note + witness.cosign('another text\n', 1_764_417_600))
  expect(await lineOf(/is cosigned by/, wrong, { witnesses })).toEqual([
    'failed',
    'the cosignature of witness.example/w1 is wrong',
  ])
})

test('the command takes a checkpoint from a file, from a mirror’s memory or from an address', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'known-checkpoint-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const before = await log.note()
  await writeFile(join(folder, 'note'), before)
  await writeFile(join(folder, 'agents.json.log'), `${log.signer.key}\n${before}`)
  log.entries = entriesUpTo(301)
  const file = join(folder, 'proof.json')
  await writeFile(file, JSON.stringify(await shown()))
  const run = (...args: string[]) => runMain('trust/proof/main.ts', [file, '--log', logUrl, ...args])
  for (const from of [join(folder, 'note'), join(folder, 'agents.json.log'), `${logUrl}/checkpoint`]) {
    expect((await run('--checkpoint', from)).stdout).toMatch(
      /^held +the log and the checkpoint you know are of one history$/m,
    )
  }
  log.entries.splice(7, 1)
  log.entries.push(...entriesUpTo(303).slice(301))
  await writeFile(file, JSON.stringify(await shown()))
  const caught = await run('--checkpoint', join(folder, 'note'))
  expect([caught.code, caught.stdout]).toEqual([
    1,
    expect.stringMatching(/^FAILED +the log and the checkpoint you know/m),
  ])
  expect(await run('--checkpoint', 'nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^nowhere cannot/),
  })
})
