import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { checkLog, type LogKnown } from '../../client/log-check.ts'
import { keyChangeText } from '../../transparency/log-key.ts'
import { noteSigner } from '../../transparency/note.ts'
import { rootOf } from '../../transparency/tree.ts'
import { endOf, runMain, startMain } from '../support/mains.ts'
import { testTimeoutMs, until } from '../support/until.ts'
import { HeldLog, newPem, serveLogs } from './held-log.ts'

const entryOf = (index: number) => Buffer.from(JSON.stringify({ type: 'claim', fid: 7, seq: index }))
const entriesUpTo = (count: number, from = 0) =>
  Array.from({ length: count - from }, (_, index) => entryOf(from + index))

const logs: Record<string, HeldLog> = {}
let server: Awaited<ReturnType<typeof serveLogs>>
beforeAll(async () => {
  server = await serveLogs((reader) => logs[reader] as HeldLog)
})
afterAll(() => server.stop())

let pem: string
let log: HeldLog
let file: string
let said: string[]
beforeEach(async () => {
  pem = newPem()
  log = new HeldLog(entriesUpTo(300), { pem })
  logs.one = log
  logs.other = log
  said = []
  const folder = await mkdtemp(join(tmpdir(), 'log-mirror-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  file = join(folder, 'agents.json')
})

/** A look at the log, as a mirror has it; the waits for caches are over at once. */
function look(known: LogKnown = {}, reader = 'one', path = file): Promise<void> {
  const directory = new AgentDirectory(server.urlFor(reader), { retries: 0, wait: async () => {} })
  return checkLog(directory, path, known, (words) => said.push(words))
}
const kept = async (path = file) => (await readFile(`${path}.log`, 'utf8')).split('\n')
const evidence = async () => {
  const names = (await readdir(join(file, '..'))).filter((name) => name.includes('.fork-'))
  return Promise.all(names.map((name) => readFile(join(file, '..', name), 'utf8')))
}
/** Looks, is refused, and finds both sides kept next to a checkpoint that stays what it was. */
async function refused(words: RegExp, known?: LogKnown): Promise<void> {
  const before = await kept()
  const shown = await log.note()
  await expect(look(known)).rejects.toThrow(words)
  await expect(look(known)).rejects.toThrow('both sides are kept in')
  expect(await kept()).toEqual(before)
  const [text, ...others] = await evidence()
  expect(others).toEqual([]) // the same evidence twice is one file
  expect(text).toContain(shown)
  expect(text).toContain(before.slice(known?.checkpoint ? before.length : 1).join('\n'))
}

test('an entry whose note is no text names no key, and the log is followed past it', async () => {
  await look()
  log.entries.push(Buffer.from(JSON.stringify({ type: 'key', note: { toString: 1 } })))
  await look()
  expect((await kept()).join('\n')).toContain(await log.note())
})

test('a log that grows is followed from checkpoint to checkpoint', async () => {
  for (const size of [300, 300, 301, 512, 513, 1_000]) {
    log.entries = entriesUpTo(size)
    await look()
    expect((await kept()).slice(0, 3)).toEqual([log.signer.key, log.origin, String(size)])
  }
  await look({ key: log.signer.key })
  expect([said, await evidence()]).toEqual([[], []])
})

test('a log that begins empty is followed', async () => {
  log.entries = []
  await look()
  log.entries = entriesUpTo(3)
  await look()
  expect((await kept())[2]).toBe('3')
})

test.for([
  ['drops a leaf', () => log.entries.splice(20, 1), 400],
  ['changes a leaf', () => log.entries.splice(20, 1, Buffer.from('{}')), 400],
  ['changes a leaf and does not grow', () => log.entries.splice(299, 1, Buffer.from('{}')), 300],
  ['moves a leaf', () => log.entries.splice(20, 2, entryOf(21), entryOf(20)), 400],
] as const)('a log that %s is found out by who kept its checkpoint', async ([, lie, size]) => {
  await look()
  lie()
  log.entries.push(...entriesUpTo(size + 1, 300).slice(0, size - log.entries.length))
  await refused(new RegExp(`agents.example/log with ${size} entries does not begin with the 300 that it signed`))
})

test('a log that shows another entry than its tree has is found out by who reads it', async () => {
  await look()
  log.entries.push(entryOf(300), entryOf(301))
  log.shown.set(301, Buffer.from('{"type":"claim","fid":8}'))
  await refused(/does not begin with the 300 that it signed/)
})

test('a log that goes back is found out, and one that a cache kept a moment too long is not', async () => {
  await look()
  log.entries.pop()
  await refused(/went back to 299 entries: it signed 300 before/)
  const directory = new AgentDirectory(server.urlFor('one'), {
    wait: async () => {
      log.entries = entriesUpTo(301)
    },
  })
  await checkLog(directory, file, {}, () => {})
  expect((await kept())[2]).toBe('301')
})

test('two histories that are shown to two readers are found out when one sees what the other kept', async () => {
  const other = join(file, '..', 'other.json')
  await look()
  await look({}, 'other', other)
  logs.other = new HeldLog([...entriesUpTo(300), Buffer.from('{}')], { pem })
  log.entries.push(entryOf(300), entryOf(301))
  await look()
  await look({}, 'other', other) // each is shown a history that goes on
  await refused(/agents.example\/log with 302 entries does not begin with the 301 that it signed/, {
    checkpoint: `${other}.log`,
  })
  await writeFile(`${file}.note`, await log.note())
  await expect(look({ checkpoint: `${file}.note` }, 'other', other)).rejects.toThrow('went back to 301 entries')
})

test('a log that another key signs is refused, unless the key before names it in an entry', async () => {
  await look()
  const next = newPem()
  const before = log.signer
  log.signer = noteSigner(log.origin, next)
  log.entries.push(entryOf(300))
  await refused(/is signed with .*, which .* does not name/)
  const note = before.sign(keyChangeText(log.origin, log.signer.key))
  log.entries.push(Buffer.from(JSON.stringify({ type: 'key', note })))
  await look()
  expect((await kept())[0]).toBe(log.signer.key)
  expect(said).toEqual([`the transparency log: its key is ${log.signer.key} now, as the one before says`])
  await expect(look({ key: before.key })).rejects.toThrow('not the one that was named')
})

test('a checkpoint that its own key has not signed is refused', async () => {
  await look()
  const { sign } = log.signer
  log.signer = { ...log.signer, sign: (text) => sign(text).replace('300', '301') }
  await refused(/shows a checkpoint that its key has not signed/)
  await rm(`${file}.log`)
  await expect(look()).rejects.toThrow('the checkpoint of the transparency log is not signed with its key')
})

test('a log that a service no longer has is found out, and a service that never had one is left alone', async () => {
  await look()
  log.file = async () => undefined
  await expect(look()).rejects.toThrow('the transparency log has no checkpoint any more')
  expect(await evidence()).toHaveLength(1)
  await rm(`${file}.log`)
  await look()
  await expect(kept()).rejects.toThrow('ENOENT')
})

test('another log is followed if it commits to the one that was known', async () => {
  await look()
  const root = (await rootOf(300, (await log.tiles()).read)).toString('base64')
  const first = (before: object) => Buffer.from(JSON.stringify({ type: 'log', epoch: 2, before }))
  const behind = (before: object, signed = pem) => {
    log = new HeldLog([first(before), ...entriesUpTo(20)], { pem: signed, epoch: 2 })
    logs.one = log
  }
  const known = { origin: 'agents.example/log', size: 300, root }
  for (const [wrong, words] of [
    [{ ...known, size: 299 }, /agents.example\/log\/2 with 21 entries does not commit to .*\/log with 300 entries/],
    [{ ...known, root: Buffer.alloc(32).toString('base64') }, /does not commit to/],
    [{ ...known, origin: 'agents.example/log/3' }, /does not commit to/],
  ] as const) {
    behind(wrong)
    await expect(look()).rejects.toThrow(words)
  }
  behind(known, newPem())
  await expect(look()).rejects.toThrow('is signed with')
  behind(known)
  await look()
  expect(said[0]).toContain('another log began, agents.example/log/2')
  expect((await kept())[1]).toBe('agents.example/log/2')
  logs.one = new HeldLog(entriesUpTo(300), { pem })
  await expect(look()).rejects.toThrow('is agents.example/log with 300 entries, and was agents.example/log/2')
})

test('a log is followed over others that began between if it commits to the one that was known, which is kept', async () => {
  await look()
  const before = await readFile(`${file}.log`, 'utf8')
  const root = (await rootOf(300, (await log.tiles()).read)).toString('base64')
  const known = { origin: 'agents.example/log', size: 300, root }
  const second = { origin: 'agents.example/log/2', size: 5, root: Buffer.alloc(32).toString('base64') }
  const jumpsWith = (first: object) => {
    log = new HeldLog([Buffer.from(JSON.stringify({ epoch: 3, ...first })), ...entriesUpTo(20)], { pem, epoch: 3 })
    logs.one = log
  }
  for (const lie of [
    { type: 'log' },
    { type: 'log', before: second },
    { type: 'log', before: second, earlier: [{ ...known, size: 299 }] },
    { type: 'log', before: second, earlier: [{ ...known, root: second.root }] },
    { type: 'log', before: second, earlier: 'all' },
    { type: 'claim', before: second, earlier: [known] },
  ]) {
    jumpsWith(lie)
    await expect(look(), JSON.stringify(lie)).rejects.toThrow('does not commit to agents.example/log with 300 entries')
    expect(await readFile(`${file}.log`, 'utf8')).toBe(before)
  }
  jumpsWith({ type: 'log', before: second, earlier: [known] })
  await look()
  expect(said).toEqual([
    expect.stringContaining('another log began, agents.example/log/3'),
    expect.stringContaining(`is kept in ${file}.log-1`),
  ])
  expect(await readFile(`${file}.log-1`, 'utf8')).toBe(before)
  expect((await kept())[1]).toBe('agents.example/log/3')
  logs.two = new HeldLog(entriesUpTo(301), { pem }) // who was shown another history of the first log finds out by that
  await expect(look({ checkpoint: `${file}.log-1` }, 'two', `${file}2`)).resolves.toBeUndefined()
  logs.two = new HeldLog(entriesUpTo(302).with(7, Buffer.from('{}')), { pem })
  await rm(`${file}2.log`)
  await expect(look({ checkpoint: `${file}.log-1` }, 'two', `${file}2`)).rejects.toThrow('does not begin with the 300')
})

test('the command ends with what it found, and keeps its mirror', async () => {
  const mirror = () => runMain('client/mirror/main.ts', ['--file', file, '--api', server.urlFor('one')])
  expect(await mirror()).toMatchObject({ code: 0 })
  log.entries.splice(20, 1)
  log.entries.push(entryOf(300))
  const { code, stderr } = await mirror()
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/does not begin with the 300 .* kept in .*\.fork-[0-9a-f]{8}$/m),
  ])
})

test('a mirror that follows finds out a log that goes back while no profile changes, and ends', async () => {
  const args = ['mirror', '--follow', '--every', '1', '--file', file, '--api', server.urlFor('one')]
  const child = startMain('client/main.ts', args, { timeoutMs: testTimeoutMs })
  const ended = endOf(child)
  await until('the log is followed', async () => (await kept().catch(() => []))[2] === '300')
  log.entries.push(entryOf(300))
  await until('the log is looked at again', async () => (await kept())[2] === '301')
  log.entries.pop()
  const { code, stderr } = await ended
  expect(stderr).toMatch(
    /went back to 300 entries: it signed 301 before; both sides are kept in .*\.fork-[0-9a-f]{8}$/m,
  )
  expect(code).toBe(1)
  expect(await evidence()).toHaveLength(1)
  for (const every of ['0', 'x', '86401']) {
    const { code, stderr } = await runMain('client/main.ts', args.with(3, every))
    expect([code, stderr]).toEqual([2, '--every must be a number of seconds from 1 to 86400\n'])
  }
})
