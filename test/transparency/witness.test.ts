import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { readerOf } from '../../client/log-check.ts'
import { sources } from '../../config/sources.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { appendEntries, storeCheckpoint, storeTiles, tileReader } from '../../db/queries/transparency/tree.ts'
import { readConfig } from '../../enrichment/config.ts'
import { logCosignatures, witnessSubject } from '../../enrichment/cosignatures/source.ts'
import { createLogWitness, type LogWitness } from '../../enrichment/cosignatures/witness.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import { checkpointText, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { cosignedBy, cosigner, withCosignature } from '../../transparency/cosignature.ts'
import { leafHash } from '../../transparency/hashes.ts'
import { keyChangeText, makeLogKey } from '../../transparency/log-key.ts'
import { keyTypes, noteSigner, openNote, parseKey, partsOf, signatureIn } from '../../transparency/note.ts'
import { appendToTiles } from '../../transparency/tiles.ts'
import { consistencyProof, rootOf } from '../../transparency/tree.ts'
import { witnessServer } from '../../witness/server.ts'
import { WatchedLog } from '../../witness/watched-log.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { fixture } from '../support/fixture.ts'
import { endOf, runMain, startMain } from '../support/mains.ts'
import { HeldLog, newPem, serveLogs } from './held-log.ts'

const entryOf = (index: number) => Buffer.from(JSON.stringify({ type: 'claim', fid: 7, seq: index }))
const entriesUpTo = (count: number) => Array.from({ length: count }, (_, index) => entryOf(index))
const at = new Date('2026-11-29T12:00:00.000Z')
const seconds = at.getTime() / 1_000
const self = cosigner('witness.example/w1', newPem())

/** A folder that is gone after the test. */
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'witness-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** A witness of the log at an address, and where it listens. */
async function watching(url: string, by = self) {
  const path = join(await newFolder(), 'log')
  const directory = new AgentDirectory(url, { retries: 0, wait: async () => {} })
  const readFile = readerOf(directory)
  const watched = new WatchedLog({ path, cosigner: by, log: { readFile, wait: async () => {} }, now: () => at })
  watched.begin({ note: String(await readFile('checkpoint')), key: String(await readFile('key')).trim() })
  const server = witnessServer(watched, by.key)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { watched, path, key: by.key, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a cosignature', () => {
  const text = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
  const note = noteSigner('example.com/behind-the-sofa', newPem()).sign(text)

  test('has the keys and times of the published vectors', () => {
    const known = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2'
    expect(parseKey(known, keyTypes.cosignature).name).toBe('remora.n621.de')
    expect(() => parseKey(known, keyTypes.note)).toThrow('of type 1')
    expect(() => parseKey(known.replace('da77', 'da78'), keyTypes.cosignature)).toThrow('the id of the key')
    const { signature } = signatureIn(
      '— w ZGhGuQAAAABm/qTPeyKXD+R2rzyQsxPiP8mXum7qq/iF0u4vanlqJyocWODBt97w9uL+8qT7S5gxEHWWOworDcFiEBYJXORmnFBOBA==',
    )
    expect([Number(signature.readBigUInt64BE()), signature.length]).toEqual([1_727_964_367, 72])
  })

  test('of four witnesses on the checkpoint of another log holds, as its own signature does', () => {
    const { note, log, witnesses } = fixture('transparency/checkpoint.cosigned.json')
    expect(parseCheckpoint(openNote(note, log))).toMatchObject({ size: 1_432_088_532 })
    expect(witnesses).toHaveLength(4)
    const other = note.replace('1432088532', '1432088533')
    for (const key of witnesses) {
      expect(cosignedBy(note, key)?.at).toBe(Date.parse('2026-05-23T21:50:24Z') / 1_000)
      expect(() => cosignedBy(other, key)).toThrow('is wrong')
    }
    expect(() => openNote(other, log)).toThrow('is wrong')
  })

  test('holds for the text and time that it is of, and no other', () => {
    const line = self.cosign(text, seconds)
    const cosigned = note + line
    expect(cosignedBy(cosigned, self.key)).toEqual({ name: 'witness.example/w1', at: seconds })
    expect(cosignedBy(note, self.key)).toBeUndefined()
    expect(cosignedBy(cosigned, cosigner('other.example', newPem()).key)).toBeUndefined()
    expect(() => cosignedBy(cosigned.replace('20852163', '20852164'), self.key)).toThrow('is wrong')
    const { name, id, signature } = signatureIn(line.trim())
    const earlier = Buffer.from(signature)
    earlier.writeBigUInt64BE(BigInt(seconds - 1))
    expect(() => cosignedBy(withCosignature(note, { name, id, signature: earlier }), self.key)).toThrow('is wrong')
    const later = withCosignature(cosigned, signatureIn(self.cosign(text, seconds + 60).trim()))
    expect(partsOf(later).signatures).toHaveLength(2)
    expect(cosignedBy(later, self.key)?.at).toBe(seconds + 60)
  })
})

describe('a witness of a log', () => {
  let held: Awaited<ReturnType<typeof serveLogs>>
  let log: HeldLog
  beforeAll(async () => {
    held = await serveLogs(() => log)
  })
  afterAll(() => held.stop())
  beforeEach(() => {
    log = new HeldLog(entriesUpTo(300))
  })

  const send = (url: string, body: string) => fetch(`${url}/add-checkpoint`, { method: 'POST', body })
  const submitted = async (old: number, note?: string) => {
    const { read } = await log.tiles()
    const proof = old <= log.entries.length ? await consistencyProof(old, log.entries.length, read) : []
    const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
    return `old ${old}\n${hashes}\n${note ?? (await log.note())}`
  }
  const evidence = async (path: string) => {
    const names = (await readdir(join(path, '..'))).filter((name) => name.includes('.fork-'))
    return Promise.all(names.map((name) => readFile(join(path, '..', name), 'utf8')))
  }

  test('follows the log, and shows its last checkpoint cosigned', async () => {
    const { watched, url } = await watching(held.urlFor('one'))
    for (const size of [300, 301, 513]) {
      log.entries = entriesUpTo(size)
      await watched.look()
      const under = createHash('sha256').update('agents.example/log').digest('hex')
      const note = await (await fetch(`${url}/${under}/checkpoint`)).text()
      expect(note).toBe((await log.note()) + self.cosign(partsOf(note).text, seconds))
      expect(cosignedBy(note, self.key)?.at).toBe(seconds)
    }
    expect(await (await fetch(`${url}/key`)).text()).toBe(`${self.key}\n`)
  })

  test('cosigns what is sent to it with a proof, and answers all else as C2SP says', async () => {
    const { url, watched, path } = await watching(held.urlFor('one'))
    log.entries = entriesUpTo(400)
    const good = await submitted(300)
    const another = new HeldLog(entriesUpTo(400), { base: 'https://other.example' })
    const forged = noteSigner(log.origin, newPem()).sign(partsOf(await log.note()).text)
    const refused: [string, number, RegExp][] = [
      ['', 400, /expected/],
      [good.replace('old 300', 'old 0300'), 400, /expected/],
      [await submitted(300, await another.note()), 404, /watches agents.example/],
      [await submitted(300, forged), 403, /not signed/],
      [await submitted(401), 400, /above/],
      [await submitted(0), 409, /^300\n$/],
      [await submitted(299), 409, /^300\n$/],
      [good.replace(/\n[^\n]+/, `\n${Buffer.alloc(32).toString('base64')}`), 422, /does not show/],
    ]
    for (const [body, status, words] of refused) {
      const answer = await send(url, body)
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(words)])
      if (status === 409) expect(answer.headers.get('content-type')).toBe('text/x.tlog.size')
    }
    expect(watched.known?.size).toBe(300)
    const answer = await send(url, good)
    expect([answer.status, await answer.text()]).toEqual([200, self.cosign(partsOf(await log.note()).text, seconds)])
    expect(watched.known?.size).toBe(400)
    // Nobody makes the witness write what it has.
    const { ino } = await stat(path)
    expect((await send(url, await submitted(400))).status).toBe(200)
    expect((await stat(path)).ino).toBe(ino)
    expect((await send(url, 'x'.repeat(300_000))).status).toBe(413)
    expect((await fetch(url)).status).toBe(404)
  })

  test.for([
    ['drops a leaf', () => log.entries.splice(20, 1, ...[]), /does not begin with the 300/],
    ['changes a leaf', () => log.entries.splice(20, 1, Buffer.from('{}')), /does not begin with the 300/],
    ['goes back', () => log.entries.splice(290), /went back to 290 entries/],
  ] as const)('refuses a log that %s, and keeps both sides', async ([, lie, words]) => {
    const { watched, path, url } = await watching(held.urlFor('one'))
    const before = await log.note()
    lie()
    if (log.entries.length > 290) log.entries.push(entryOf(300), entryOf(301))
    await expect(watched.look()).rejects.toThrow(words)
    const [text, ...others] = await evidence(path)
    expect([text, others]).toEqual([expect.stringContaining(before), []])
    expect(text).toContain(await log.note())
    expect([watched.known?.note, watched.cosigned()]).toEqual([before, undefined])
    expect((await send(url, await submitted(300))).status).toBeGreaterThanOrEqual(400)
    log.entries = entriesUpTo(301)
    await watched.look() // what goes on from there is cosigned again
    expect(watched.cosigned()).toBeDefined()
  })

  test('accuses nobody for a proof that is sent with the checkpoint that it knows', async () => {
    const { path, url, watched } = await watching(held.urlFor('one'))
    const madeUp = `${Buffer.alloc(32, 1).toString('base64')}\n`
    const answer = await send(url, (await submitted(300)).replace('\n', `\n${madeUp}`))
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringMatching(/does not show/)])
    expect([await evidence(path), watched.cosigned()?.note]).toEqual([[], await log.note()])
    expect((await send(url, await submitted(300))).status).toBe(200)
  })

  test('keeps two trees of one size that were signed for different readers', async () => {
    const { path, url, watched } = await watching(held.urlFor('one'))
    const shown = await log.note()
    log.entries.splice(7, 1, Buffer.from('{}'))
    const answer = await send(url, await submitted(300))
    expect([answer.status, await answer.text()]).toEqual([409, '300\n'])
    const [text] = await evidence(path)
    expect(text).toContain(shown)
    expect(text).toContain(await log.note())
    expect(watched.cosigned()).toBeUndefined()
  })

  test('goes over to another key and another log where those before say so, and keeps what it knew', async () => {
    const { path, url, watched } = await watching(held.urlFor('one'))
    const before = log.signer
    const pem = newPem()
    log.signer = noteSigner(log.origin, pem)
    const note = before.sign(keyChangeText(log.origin, log.signer.key))
    log.entries.push(Buffer.from(JSON.stringify({ type: 'key', note })))
    expect((await send(url, await submitted(300))).status).toBe(403) // a proof does not show the entry
    expect(await watched.look()).toEqual([`its key is ${log.signer.key} now, as the one before says`])
    log.entries.push(entryOf(301))
    expect((await send(url, await submitted(301))).status).toBe(200)
    const kept = await readFile(path, 'utf8')
    const root = (await rootOf(302, (await log.tiles()).read)).toString('base64')
    const first = { type: 'log', epoch: 2, before: { origin: log.origin, size: 302, root } }
    const lie = { ...first, before: { ...first.before, size: 301 } }
    log = new HeldLog([Buffer.from(JSON.stringify(lie))], { pem, epoch: 2 })
    await expect(watched.look()).rejects.toThrow('does not commit to')
    expect(watched.cosigned()).toBeUndefined()
    log = new HeldLog([Buffer.from(JSON.stringify(first))], { pem, epoch: 2 })
    expect(await watched.look()).toEqual([
      expect.stringContaining('another log began, agents.example/log/2'),
      expect.stringContaining(`is kept in ${path}-1`),
    ])
    expect(await readFile(`${path}-1`, 'utf8')).toBe(kept)
    expect(watched.cosigned()?.origin).toBe('agents.example/log/2')
    expect((await send(url, await submitted(1))).status).toBe(200)
  })

  test('keeps and serves a checkpoint with no lines of others, and tells nothing of its files', async () => {
    const { url, watched, path } = await watching(held.urlFor('one'))
    log.entries = entriesUpTo(400)
    const own = await log.note()
    const text = partsOf(own).text
    const junk = noteSigner('junk.example', newPem())
      .sign(text)
      .slice(text.length + 1)
    for (const lines of [junk, own.slice(text.length + 1)]) {
      const size = watched.known!.size
      expect((await send(url, (await submitted(size)) + lines.repeat(63))).status).toBe(200)
      expect(watched.known?.note).toBe(own)
      expect(cosignedBy(watched.cosigned()!.note + watched.cosigned()!.line, self.key)?.at).toBe(seconds)
    }
    log.entries.splice(7, 1, Buffer.from('{}'))
    expect((await send(url, (await submitted(400)) + junk.repeat(63))).status).toBe(409)
    expect((await evidence(path))[0]).not.toContain('junk.example')
    await writeFile(path, 'junk')
    const answer = await send(url, await submitted(400))
    expect([answer.status, await answer.text()]).toEqual([500, 'the witness cannot answer now\n'])
  })

  test('is a command, which ends with what it found', async () => {
    const folder = await newFolder()
    const args = ['--of', held.urlFor('one'), '--folder', folder, '--name', 'witness.example/w2']
    const command = (...more: string[]) => runMain('witness/main.ts', [...args, '--once', ...more])
    const first = await command()
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^— witness\.example\/w2 \S+\n$/) })
    log.entries.splice(20, 1)
    log.entries.push(entryOf(300))
    const lied = await command()
    expect([lied.code, lied.stderr]).toEqual([1, expect.stringMatching(/does not begin with .* kept in .*log\.fork-/)])
    for (const wrong of [
      ['--of', 'nowhere'],
      ['--port', '70000'],
      ['--name', 'two words'],
    ]) {
      expect(await command(...wrong)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--\w+ must .*\n$/) })
    }
  })
})

describe('a service with witnesses', () => {
  const database = testDatabase()
  const signer = noteSigner('api.agents.example/log', newPem())
  const clock = { now: at.getTime() }
  let api: TestApi
  let size = 0
  beforeAll(async () => {
    api = await startApi(database, { now: () => clock.now })
  })
  afterAll(() => api.stop())

  /** Appends entries as the job does, and signs the tree. */
  async function append(count: number): Promise<void> {
    const { pool } = database
    const coming = Array.from({ length: count }, (_, nth) => ({ subject: `${size + nth}`, entry: entryOf(size + nth) }))
    const readTile = tileReader(pool)
    await appendEntries(pool, size, coming)
    await storeTiles(
      pool,
      await appendToTiles(
        size,
        coming.map(({ entry }) => leafHash(entry)),
        readTile,
      ),
    )
    size += count
    const root = await rootOf(size, readTile)
    await storeCheckpoint(pool, {
      size,
      key: signer.key,
      note: signer.sign(checkpointText({ origin: 'api.agents.example/log', size, root })),
    })
    clock.now += 5_000
  }
  async function ask(witnesses: readonly LogWitness[]): Promise<string[]> {
    const { pool } = database
    const clients = witnesses.map(createLogWitness)
    const now = () => new Date(clock.now)
    const { name } = sources.cosignatures
    await pool.query('delete from source_state')
    await addSubjects(pool, name, witnesses.map(witnessSubject), { priority: 0, dueAt: now() })
    const source = logCosignatures({ pool, witnesses: clients, now })
    const { outcomes } = await runPass(source, { pool, now, random: Math.random, failed: () => {} })
    for (const client of clients) await client.close()
    clock.now += 5_000
    return [...outcomes].sort()
  }
  const shown = async () => (await api.get('/log/checkpoint')).text()

  test('shows their cosignatures on the checkpoint that it serves', async () => {
    await append(3)
    const one = await watching(api.url)
    const child = startMain('witness/main.ts', ['--of', api.url, '--folder', await newFolder(), '--port', '0'])
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    const [, key = '', url = ''] = /^(\S+)@(http:\S+)\n$/.exec(String(line)) ?? []
    const dead = { key: cosigner('dead.example', newPem()).key, url: 'http://127.0.0.1:1' }
    const liar = await faulty(cosigner('liar.example', newPem()).key)
    const all = [one, { key, url }, dead, liar]
    expect(await ask(all)).toEqual(['bad_answer', 'ok', 'ok', 'unavailable'])
    const first = await shown()
    for (const witness of [one, { key }]) expect(cosignedBy(first, witness.key)).toBeDefined()
    expect(partsOf(first).signatures.map(({ name }) => name)).not.toContain('liar.example')
    await append(600)
    expect(partsOf(await shown()).signatures).toHaveLength(1)
    expect(await ask(all)).toEqual(['bad_answer', 'ok', 'ok', 'unavailable'])
    const second = await shown()
    for (const witness of [one, { key }]) expect(cosignedBy(second, witness.key)).toBeDefined()
    expect(one.watched.known?.size).toBe(603)
    expect(await ask([one])).toEqual(['ok'])
    expect(await shown()).toBe(second) // a fresh cosignature is not asked for again
    child.kill('SIGTERM')
    expect((await endOf(child)).code).toBe(0)
  })

  test('is told by a witness that entries are lost, or that there are two trees', async () => {
    const { watched, ...witness } = await watching(api.url)
    await append(1)
    expect(await ask([witness])).toEqual(['ok'])
    const { pool } = database
    const known = await shown()
    const root = leafHash(Buffer.from('another'))
    const text = (of: number) => checkpointText({ origin: 'api.agents.example/log', size: of, root })
    await storeCheckpoint(pool, { size: size - 1, key: signer.key, note: signer.sign(text(size - 1)) })
    expect(await ask([witness])).toEqual(['knows_more'])
    await storeCheckpoint(pool, { size, key: signer.key, note: signer.sign(text(size)) })
    expect(await ask([witness])).toEqual(['fork'])
    expect(partsOf(String(watched.known?.note)).text).toBe(partsOf(known).text)
  })
})

test('LOG_WITNESSES names witnesses by key and address, and anything else is refused before the job starts', async () => {
  const file = join(await newFolder(), 'key.pem')
  makeLogKey(file)
  const read = (LOG_WITNESSES: string, more: object = { LOG_KEY_FILE: file }) =>
    readConfig({ BASE_URL: 'https://api.agents.example', ...more, LOG_WITNESSES }).logWitnesses
  const named = { key: self.key, url: 'https://witness.example' }
  expect(read(`${self.key}@https://witness.example/`)).toEqual([named])
  expect(read(`${self.key}@https://witness.example, ${self.key}@https://witness.example`)).toEqual([named, named])
  expect(read(`${self.key}@https://witness.example`, {})).toEqual([])
  for (const [wrong, words] of [
    ['https://witness.example', 'LOG_WITNESSES must have KEY@URL in place of https://witness.example'],
    [`${self.key}@witness.example`, 'LOG_WITNESSES must have KEY@URL'],
    [`${noteSigner('log.example', newPem()).key}@https://log.example`, 'LOG_WITNESSES: the key is not one of Ed25519'],
    [Array(9).fill(`${self.key}@https://witness.example`).join(), 'LOG_WITNESSES must be 8 witnesses at most'],
  ] as const) {
    expect(() => read(wrong), wrong).toThrow(words)
  }
})

/** A witness that answers with a cosignature of something else. */
async function faulty(key: string): Promise<LogWitness> {
  const { name, id } = parseKey(key, keyTypes.cosignature)
  const line = `— ${name} ${Buffer.concat([id, Buffer.alloc(72)]).toString('base64')}\n`
  const server = createServer((_req, res) => res.end(line))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { key, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
