import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { checkLog } from '../../client/log-check.ts'
import { mirrorFile } from '../../client/mirror.ts'
import { ProfileCheck } from '../../client/profile-check.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { changeDigest } from '../../transparency/change-digest.ts'
import { makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'
import { startMain } from '../support/mains.ts'
import { insert } from '../support/seed.ts'
import { until } from '../support/until.ts'

let stage: ClaimStage
let folder: string
let lie: (body: string) => string = (body) => body
/** The API, as a server that lies about profiles serves it. */
const server = createServer(async (req, res) => {
  const answer = await stage.api.get(req.url!, { headers: { 'Accept-Encoding': 'identity' } })
  const headers = { 'X-Log-Epoch': answer.headers.get('x-log-epoch') ?? '' }
  if (req.url!.endsWith('.sse')) return pipeline(answer.body!, res.writeHead(answer.status, headers)).catch(() => {})
  const bytes = Buffer.from(await answer.arrayBuffer())
  const body = req.url!.startsWith('/data/') ? Buffer.from(lie(String(bytes))) : bytes
  res.writeHead(answer.status, headers).end(body)
})
let url: string
beforeAll(async () => {
  stage = await startClaimStage()
  folder = await mkdtemp(join(tmpdir(), 'profiles-'))
  makeLogKey(join(folder, 'key.pem'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => Promise.all([stage.stop(), server.close(), rm(folder, { recursive: true })]))

function append() {
  stage.clock.now += 2_000 // what was read before is old
  const log = readLogKey(join(folder, 'key.pem'), 'https://api.agents.example')
  const kinds = derivations.filter(({ kind }) => kind === 'logged facts')
  return settle(kinds, {
    pool: stage.database.pool,
    now: () => new Date(),
    settlementOverloads: 'spec',
    log,
  })
}

async function claim(): Promise<number> {
  stage.clock.now += 2_000
  const claimant = await stage.claimant()
  const { fid } = claimant
  await insert(stage.database.pool, 'social_profile', {
    fid,
    handle: `ada${fid}`,
    display_name: 'Ada "\\" \u2028 ß 🦆',
    bio: 'honest',
    updated_at: new Date(),
  })
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  return fid
}

/** A mirror as one process has it; each look brings it up to date and compares it. */
function mirror(name: string) {
  const file = join(folder, name)
  const profiles = new ProfileCheck()
  return {
    profiles,
    async look(): Promise<void> {
      const directory = new AgentDirectory(url, { retries: 0, wait: async () => {} })
      await mirrorFile(directory, file, 'log', profiles)
      await checkLog(directory, file, {}, () => {}, profiles)
    },
  }
}

test('a profile that is another than its entry tells is found out, one that is not in the log yet waits for it', async () => {
  const first = await claim()
  await append()
  const own = mirror('own.json')
  await own.look()
  expect(own.profiles.waiting).toBe(0)

  const second = await claim()
  await own.look()
  await own.look()
  expect(own.profiles.waiting).toBe(1) // the log has not come so far
  await append()
  await own.look()
  expect(own.profiles.waiting).toBe(0)

  lie = (body) => body.replaceAll('honest', 'other')
  await claim()
  await append()
  await own.look()
  await expect(own.look()).rejects.toThrow(/the profile of agent \d+ is another than any entry of the transparency log/)

  const fresh = mirror('fresh.json')
  await fresh.look()
  await expect(fresh.look()).rejects.toThrow(`the profile of agent ${first} is another`)
  lie = (body) => body
  const honest = mirror('honest.json')
  for (let look = 0; look < 3; look++) await honest.look()
  expect(honest.profiles.waiting).toBe(0)
  expect(second).not.toBe(first)
})

test('a profile that a server changes without a change in the log is found out by who had it before', async () => {
  const own = mirror('before.json')
  await own.look()
  const [fid] = (await stage.database.pool.query('select fid from agent order by fid limit 1')).rows.map(
    (row) => row.fid,
  )
  lie = (body) => body.replaceAll('honest', 'other')
  await stage.database.pool.query(
    `insert into agent_activity (fid, seq) values ($1, nextval(pg_get_serial_sequence('agent_change', 'seq')))
         on conflict (fid) do update set seq = excluded.seq`,
    [fid],
  ) // activity alone
  stage.clock.now += 2_000
  await own.look()
  await claim()
  await append()
  await own.look().catch(() => {})
  await expect(own.look()).rejects.toThrow(`the profile of agent ${fid} is another`)
  lie = (body) => body
})

test('a mirror that follows says once how many profiles ahead of the log have no entry', async () => {
  await append()
  await claim()
  const child = startMain('client/mirror/main.ts', [
    '--api',
    url,
    '--file',
    join(folder, 'follows.json'),
    '--follow',
    '--every',
    '1',
  ])
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', (text) => {
    said += text
  })
  const words = 'the transparency log: it has no entry yet for 1 profiles that changed\n'
  await until('it says so', () => said.includes(words), { explain: () => said })
  await claim()
  await until('it says so again', () => said.includes(words.replace('1', '2')), { explain: () => said })
  expect(said.split(words)).toHaveLength(2)
})

test('a new mirror that is shown what an agent was before finds no entry for it', () => {
  const entry = (seq: number, bio: string) => ({ type: 'change', fid: 7, seq, digest: changeDigest({ fid: 7, bio }) })
  const shown = (bio: string) => {
    const profiles = new ProfileCheck()
    profiles.begin()
    profiles.took({ kind: 'upsert', fid: 7, seq: 25, profile: { fid: 7, bio } }, undefined)
    profiles.log([entry(10, 'last year'), entry(20, 'when the line was written'), entry(30, 'now')])
    profiles.compare()
    return [profiles.waiting, profiles.compare()]
  }
  expect(shown('last year')).toEqual([1, 7])
  // A line has the profile of the moment, which may be a later one.
  expect(shown('when the line was written')).toEqual([0, undefined])
  expect(shown('now')).toEqual([0, undefined])
})
