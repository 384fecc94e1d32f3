import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installationOf } from '../../api/http/route.ts'
import { AgentDirectory, DirectoryError, type LogLine } from '../../client/client.ts'
import { followFile } from '../../client/mirror.ts'
import { type Format, jsonText, written } from '../../client/rows.ts'
import { readChains, socialRegistriesOf } from '../../config/chains.file.ts'
import { serveRound } from '../../export/served/round.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { runMain, startMain } from '../support/mains.ts'
import { addressOf, countSettlements, insert, seedAgent, seedSettlement } from '../support/seed.ts'
import { until } from '../support/until.ts'

const agents = 130
const payer = addressOf('payer')

const database = testDatabase()
let api: TestApi
let folder: string
let ahead = 0
let stopping: string | undefined
beforeAll(async () => {
  const { pool } = database
  for (let fid = 1; fid <= agents; fid++) {
    const listedAt = new Date(Date.UTC(2026, 2, 1, 0, fid))
    const addresses = fid === 1 ? [addressOf('one')] : []
    await seedAgent(pool, { fid, listedAt, addresses, displayName: fid === 2 ? '=SUM(A1), "x"\u001b[2J\u2028' : null })
    await note(fid, 'upsert')
  }
  for (let block = 1; block <= 120; block++) {
    await seedSettlement(pool, {
      chain: 'base',
      recipient: addressOf('one'),
      payer,
      block,
      at: new Date(1_770_000_000_000 + block),
    })
  }
  await countSettlements(pool)
  folder = await mkdtemp(join(tmpdir(), 'client-'))
  const exportDir = join(folder, 'exports')
  api = await startApi(database, { now: () => Date.now() + ahead, notReady: () => stopping, exportDir })
})
afterAll(async () => {
  await api.stop()
  await rm(folder, { recursive: true })
})

/** Logs a change of an agent, as the join does. */
const note = (fid: number, kind: 'upsert' | 'delist') =>
  insert(database.pool, 'agent_change', { fid, kind, changed_at: new Date() })

/** A fetch that records each request: path, status, If-None-Match and Last-Event-ID. */
function watched() {
  const sent: { url: string; status: number; tag: string | undefined; from: string | undefined }[] = []
  const send: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const headers = new Headers(init?.headers)
    const [tag, from] = ['if-none-match', 'last-event-id'].map((name) => headers.get(name) ?? undefined)
    sent.push({ url: String(input).slice(api.url.length), status: answer.status, tag, from })
    return answer
  }
  return { sent, send }
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}

test('a profile is typed and what the API answers', async () => {
  const agent = await new AgentDirectory(`${api.url}/`).agent(1)
  expect(agent).toEqual(await (await api.get('/api/agent/1')).json())
  expect(agent.fid).toBe(1)
})

test('lists go on over their pages', async () => {
  const { sent, send } = watched()
  const directory = new AgentDirectory(api.url, { fetch: send })
  const listed = await all(directory.agents({ limit: 50, sort: 'oldest' }))
  expect(listed.map(({ fid }) => fid)).toEqual(Array.from({ length: agents }, (_, n) => n + 1))
  expect(sent.length).toBe(3)
  expect((await all(directory.settlements({ payer, limit: 50 }))).length).toBe(120)
  expect((await all(directory.settlementsOf(1, { limit: 50 }))).map(({ block_number: block }) => block)).toEqual(
    Array.from({ length: 120 }, (_, n) => 120 - n),
  )
})

test('who leaves a list asks no further', async () => {
  const { sent, send } = watched()
  for await (const agent of new AgentDirectory(api.url, { fetch: send }).agents({ limit: 50 })) {
    if (agent.fid > 0) break
  }
  expect(sent.length).toBe(1)
})

test('what was read before is asked for by its tag, and not sent again', async () => {
  const { sent, send } = watched()
  const directory = new AgentDirectory(api.url, { fetch: send })
  const first = await directory.agent(3)
  expect(await directory.agent(3)).toEqual(first)
  expect(sent.map(({ status }) => status)).toEqual([200, 304])
  expect(sent[1]?.tag).toMatch(/^".+"$/)
})

test('a refusal of the service is an error with its code, detail and fields', async () => {
  const directory = new AgentDirectory(api.url)
  const missing = await directory.agent(999).catch((error) => error)
  expect(missing).toBeInstanceOf(DirectoryError)
  expect(missing).toMatchObject({ code: 'ERR_NOT_FOUND', status: 404, detail: expect.any(String), fields: {} })
  await expect(all(directory.settlements({ since: '2020-01-01T00:00:00Z' }))).rejects.toMatchObject({
    code: 'ERR_PAYLOAD_INVALID',
    fields: { fields: [{ path: 'since', problem: expect.any(String) }] },
  })
})

const run = (...args: string[]) => runMain('client/main.ts', [...args, '--api', api.url])

test('the command writes agents in each of its formats', async () => {
  const [json, lines, csv, table] = await Promise.all(
    ['json', 'ndjson', 'csv', 'table'].map((format) => run('agents', '--all', '--sort', 'oldest', '--format', format)),
  )
  const fids = Array.from({ length: agents }, (_, n) => n + 1)
  expect(JSON.parse(json?.stdout ?? '').map(({ fid }: { fid: number }) => fid)).toEqual(fids)
  expect(
    lines?.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).fid),
  ).toEqual(fids)
  expect(csv?.stdout.split('\r\n')[0]).toMatch(/^fid,handle,display_name,/)
  expect(csv?.stdout).toContain(`\r\n2,agent2,"'=SUM(A1), ""x""`)
  expect(table?.stdout).not.toContain('\u001b')
  expect(table?.stdout.split('\n').length).toBe(agents + 2)
})

test('no control character reaches a terminal, and a file keeps those of CSV and what JSON means', async () => {
  const row = { name: 'a\u0085\u009b2J\u001b[2J\u007fz' }
  const textOf = async (format: Format, isTerminal: boolean) => {
    let text = ''
    for await (const piece of written([row], format, isTerminal)) text += piece
    return text
  }
  expect(await textOf('csv', false)).toBe(`name\r\n${row.name}\r\n`)
  expect(await textOf('csv', true)).toBe('name\r\na  2J [2J z\r\n')
  for (const format of ['json', 'ndjson'] as const) {
    const text = await textOf(format, false)
    expect(text).not.toMatch(/[^\n\x20-\x7e]/)
    expect([JSON.parse(text)].flat()).toEqual([row])
  }
  expect(JSON.parse(jsonText(row, 2))).toEqual(row)
  expect(jsonText(row, 2)).not.toMatch(/[^\n\x20-\x7e]/)
})

test('the command shows one agent, settlements, and says what is wrong in one line', async () => {
  const [agent, named, unnamed, neither, settlements, none, wrong] = await Promise.all([
    run('agent', '1'),
    run('agent', '@AGENT1'),
    run('agent', '@agent'),
    run('agent', 'agent1'),
    run('settlements', '--payer', payer, '--limit', '105', '--format', 'ndjson'),
    run('agent', '999'),
    run('agents', '--format', 'xml'),
  ])
  expect([agent.code, JSON.parse(agent.stdout).fid]).toEqual([0, 1])
  expect([named.code, JSON.parse(named.stdout).fid]).toEqual([0, 1])
  expect([unnamed.code, unnamed.stderr]).toEqual([1, 'no agent has the handle @agent\n'])
  expect([neither.code, neither.stderr]).toEqual([2, expect.stringMatching(/^agent takes a FID or a handle, .+\n$/)])
  expect([settlements.code, settlements.stdout.trimEnd().split('\n').length]).toEqual([0, 105])
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^404 ERR_NOT_FOUND: .+\n$/)])
  expect([wrong.code, wrong.stderr]).toEqual([2, '--format must be one of json, ndjson, csv, table\n'])
})

test('the command ends without a word when nobody reads its output any more', async () => {
  const child = startMain('client/main.ts', ['agents', '--all', '--api', api.url])
  child.stdout?.destroy() // as `head` does at the end of its lines
  const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr!)])
  expect([code, said]).toEqual([0, ''])
})

test('a mirror is brought up to date from where it was, and starts over with another database', async () => {
  const file = join(folder, 'agents.json')
  const mirrored = async () => JSON.parse(await readFile(file, 'utf8'))
  const first = await run('mirror', '--file', file)
  expect([first.code, first.stderr]).toEqual([0, `${file}: ${agents} agents\n`])
  await database.pool.query(`update agent set handle = 'renamed' where fid = 5`)
  await note(5, 'upsert')
  await database.pool.query('delete from agent where fid = 6')
  await note(6, 'delist')
  ahead += 60_000 // past the time for which the log's answers are cached
  expect((await run('mirror', '--file', file)).stderr).toBe(`${file}: ${agents - 1} agents\n`)
  const { agents: kept } = await mirrored()
  expect([kept[5].handle, kept[6]]).toEqual(['renamed', undefined])
  expect((await all(new AgentDirectory(api.url).log())).find(({ fid }) => fid === 2)).toMatchObject({
    profile: kept[2],
  })
  await database.pool.query('update service_state set epoch = gen_random_uuid()')
  await database.pool.query('delete from agent where fid = 7')
  await note(7, 'delist')
  ahead += 60_000
  expect((await run('mirror', '--file', file)).stderr).toBe(`${file}: ${agents - 2} agents\n`)
})

/** Lines of the newest snapshot, downloaded with `send`. */
async function snapshotOver(send: typeof fetch) {
  const { lines } = await new AgentDirectory(api.url, { fetch: send, wait: async () => {} }).snapshot()
  const told = await all(lines)
  expect(told.length).toBeGreaterThan(100)
  return told
}

/** A fetch that breaks the first download of profiles after a quarter of its bytes, and the second after half. */
function cutting(): typeof fetch {
  const shares = [0.25, 0.5]
  return async (input, init) => {
    const answer = await fetch(input, init)
    const share = String(input).includes('/profiles/') ? shares.shift() : undefined
    if (share === undefined) return answer
    const bytes = new Uint8Array(await answer.arrayBuffer())
    return new Response(
      new ReadableStream({
        start: (body) => body.enqueue(bytes.subarray(0, bytes.length * share)),
        pull: (body) => body.error(new TypeError('terminated')),
      }),
    )
  }
}

test('a file that is cut off, or is another, is left as it is', async () => {
  const file = join(folder, 'other.json')
  for (const text of ['{"place":"9f3a61c2-1","agents":{\n"1":{"fid":1},\n', '[]', '']) {
    await writeFile(file, text)
    const refused = { code: 1, stderr: `${file} is not the file of a mirror; without it a new one is begun\n` }
    expect(await run('mirror', '--file', file)).toMatchObject(refused)
    expect(await readFile(file, 'utf8')).toBe(text)
  }
})

test('a mirror that begins with the snapshot and follows the log is one that read the log from its beginning', async () => {
  const [file, fresh] = ['from-snapshot.json', 'from-log.json'].map((name) => join(folder, name)) as [string, string]
  const fromSnapshot = () => run('mirror', '--file', file, '--from', 'snapshot')
  const mirrored = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
  expect(await fromSnapshot()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^404 ERR_NOT_FOUND: /) })
  const { pool } = database
  await serveRound({
    pool,
    folder: join(folder, 'exports'),
    pace: async () => {},
    installation: installationOf({ chains: readChains({ env: {} }), baseUrl: 'https://api.agents.example' }),
    terms: {
      serviceName: 'agent-directory',
      siteUrl: 'https://agents.example',
      baseUrl: 'https://api.agents.example',
      registries: socialRegistriesOf(readChains({ env: {} })),
    },
    now: () => new Date(),
    tell: () => {},
  })
  expect(await snapshotOver(cutting())).toEqual(await snapshotOver(fetch))
  await pool.query(`update agent set handle = 'since' where fid = 15`)
  await note(15, 'upsert')
  await pool.query('delete from agent where fid = 16')
  await note(16, 'delist')
  await seedAgent(pool, { fid: 500 })
  await note(500, 'upsert')
  ahead += 60_000
  expect(await fromSnapshot()).toMatchObject({ code: 0 })
  await run('mirror', '--file', fresh)
  expect(await mirrored(file)).toEqual(await mirrored(fresh))
  const { agents: kept } = await mirrored(file)
  expect([kept[15].handle, kept[16], kept[500].fid]).toEqual(['since', undefined, 500])
  await pool.query('update service_state set epoch = gen_random_uuid()')
  ahead += 60_000
  expect(await fromSnapshot()).toMatchObject({ code: 0 })
})

test('a mirror keeps a number that is too large for JavaScript, as the log, a snapshot and a stream write it', async () => {
  const profile = '{"fid":1,"bio":"\\"profile\\":{} \u2028","erc8004_records":[{"erc8004_id":9007199254740993}]}'
  const line = (seq: number, fid: number) =>
    `{"seq":${seq},"note":{"profile":{}},"profile":${profile},"kind":"upsert","fid":${fid}}\n`
  const answers: Record<string, string | Uint8Array<ArrayBuffer>> = {
    '/exports/manifest.json': '{"log":{"since":"9f3a61c2-1"},"files":[{"dataset":"profiles","path":"profiles/1"}]}',
    '/exports/profiles/1': gzipSync(line(1, 1)),
    '/data/log.ndjson?since=9f3a61c2-1': line(2, 2),
    '/data/log.sse': `id: 9f3a61c2-3\nevent: upsert\ndata: ${line(3, 3)}\n`,
  }
  const send: typeof fetch = async (input) => {
    const path = String(input).slice(api.url.length)
    const { [path]: body } = answers
    delete answers[path]
    if (path === '/data/log.sse' && body === undefined) return new Promise(() => {}) // nothing changes any more
    return new Response(body ?? '', { headers: { 'x-log-epoch': '9f3a61c2' } })
  }
  const directory = new AgentDirectory(api.url, { fetch: send })
  const file = join(folder, 'large-numbers.json')
  let saves = 0
  const stop = new Error('that is enough')
  const following = followFile(directory, file, 'snapshot', () => {
    if (++saves === 2) throw stop
  })
  await expect(following).rejects.toBe(stop)
  const kept = profile.replace('\u2028', '\\u2028')
  const lines = [1, 2, 3].map((fid) => `"${fid}":${kept}`)
  expect(await readFile(file, 'utf8')).toBe(`{"place":"9f3a61c2-3","agents":{\n${lines.join(',\n')}\n}}\n`)
})

test('a mirror that follows writes what changes while it runs', async () => {
  const file = join(folder, 'followed.json')
  const child = startMain('client/main.ts', ['mirror', '--file', file, '--follow', '--api', api.url])
  let said = ''
  child.stderr?.on('data', (text) => {
    said += text
  })
  const stored = async () => JSON.parse(await readFile(file, 'utf8')).agents
  await until('the mirror is there', () => /^.* agents\n/.test(said))
  await database.pool.query(`update agent set handle = 'followed' where fid = 8`)
  await note(8, 'upsert')
  await until('the change is written', async () => (await stored())[8].handle === 'followed')
  child.kill('SIGTERM')
  await once(child, 'exit')
})

test('who follows the log hears every change once, over connections that end, and is told of another log', async () => {
  const { sent, send } = watched()
  const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 20))
  const directory = new AgentDirectory(api.url, { fetch: send, wait })
  ahead += 60_000
  const known = await all(directory.log())
  const heard: LogLine[] = []
  const following = (async () => {
    for await (const line of directory.follow(known.at(-1)?.place)) heard.push(line)
  })()
  const ended = following.catch((error) => error)
  const connections = () => sent.filter(({ url, status }) => url === '/data/log.sse' && status === 200)
  const endStreams = async () => {
    const before = connections().length
    stopping = 'the process is stopping'
    await until('the stream was asked for again', () => connections().length > before)
    stopping = undefined
  }
  await until('the stream is open', () => connections().length === 1)
  await note(9, 'upsert')
  await until('the first change is heard', () => heard.length === 1)
  await endStreams()
  await note(10, 'upsert')
  await until('the second change is heard', () => heard.length === 2)
  expect(heard.map(({ fid, kind }) => [fid, kind])).toEqual([
    [9, 'upsert'],
    [10, 'upsert'],
  ])
  expect(heard[0]).toMatchObject({ profile: { fid: 9 }, place: expect.stringMatching(/^[0-9a-f]{8}-[0-9]+$/) })
  expect(connections()[0]?.from).toBe(known.at(-1)?.place)
  expect(connections()[1]?.from).toBe(heard[0]?.place)
  await database.pool.query('update service_state set epoch = gen_random_uuid()')
  ahead += 60_000
  await endStreams()
  expect(await ended).toMatchObject({ name: 'DirectoryError', code: 'ERR_NOT_FOUND' })
  expect(heard.length).toBe(2)
})
