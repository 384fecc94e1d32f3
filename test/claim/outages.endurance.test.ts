import { createServer, type Server, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { funder } from '../../devnet/chain/chain.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import { freePort } from '../../ops/ports.ts'
import { startTcpProxy } from '../doubles/tcp-proxy.ts'
import { failure, type TestApi } from '../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../support/api/claims.ts'

/** Longest that a claim may take, whatever is slow, in milliseconds. */
const longestMs = 10_000

let stage: ClaimStage
let claimant: Claimant
let closed: string
let silent: { url: string; server: Server; sockets: Set<Socket> }
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
  closed = `http://127.0.0.1:${await freePort()}`
  silent = await startSilence()
})
afterAll(async () => {
  for (const socket of silent.sockets) socket.destroy()
  silent.server.close()
  await stage.stop()
})

/** A server that accepts connections and never answers. */
async function startSilence() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => {})))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${port}`, server, sockets }
}

/** Checks for a 500 without a reason, in time; the same claim is then accepted by an API without the fault. */
async function expectOutage(api: TestApi, body: unknown) {
  const start = performance.now()
  expect(await failure(await post(api, body))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
  expect(performance.now() - start).toBeLessThan(longestMs)
  expect((await post(stage.api, body)).status).toBe(200)
}

/** A contract wallet of the claimant's key, verified for the fid. */
async function walletWithSalt(text: string) {
  const salt = `0x${text.padStart(64, '0')}` as const
  await stage.chain.execute(funder, createWallet(stage.chain, claimant.account.address, salt))
  const address = await walletOf(stage.chain, claimant.account.address, salt)
  stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, privateKey: claimant.privateKey })
  return address
}

test.for(['down', 'slow'] as const)('the hub is %s: 500, and the nonce stays free', async (how) => {
  const api = await stage.another({ hubUrl: how === 'down' ? closed : silent.url })
  await expectOutage(api, await eip191Claim(stage, claimant))
  await expectOutage(api, jfsClaim(stage, claimant))
})

test.for(['half-json', 'html', 'wrong-schema', 'truncated'] as const)('the hub answers %s: 500', async (kind) => {
  const body = await eip191Claim(stage, claimant)
  stage.hub.faults.add({ kind })
  expect(await failure(await post(stage.api, body))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
  expect((await post(stage.api, body)).status).toBe(200)
})

test.for(['down', 'slow', 'not set'] as const)('the RPC of Optimism is %s: 500, never an inactive key', async (how) => {
  const api = await stage.another({ rpc: how === 'down' ? closed : how === 'slow' ? silent.url : null })
  await expectOutage(api, jfsClaim(stage, claimant))
})

test.for(['down', 'slow', 'not set'] as const)(
  'the RPC of a contract wallet’s chain is %s: 500, never a bad signature; nor can a plain key’s message be placed',
  async (how) => {
    const api = await stage.another({ rpc: how === 'down' ? closed : how === 'slow' ? silent.url : null })
    const address = await walletWithSalt({ down: '01', slow: '02', 'not set': '03' }[how])
    await expectOutage(api, await eip191Claim(stage, claimant, { address }))
    // With no RPC configured only the signatures are checked.
    const byKey = await post(api, await eip191Claim(stage, claimant))
    expect(byKey.status).toBe(how === 'not set' ? 200 : 500)
  },
)

test('a node that answers web pages is an outage too', async () => {
  stage.host.pages.set('/', { body: '<!doctype html>' })
  const api = await stage.another({ rpc: stage.host.url })
  await expectOutage(api, jfsClaim(stage, claimant))
})

test.for(['down', 'slow'] as const)('Postgres is %s: 500, and the nonce stays free', async (how) => {
  const { database } = stage
  const proxy = await startTcpProxy(Number(new URL(database.url).port))
  const url = new URL(database.url)
  url.port = how === 'slow' ? new URL(silent.url).port : String(proxy.port)
  const pool = createPool({ databaseUrl: url.href, name: 'outage', connectTimeoutMs: 1_000 })
  if (how === 'down') await proxy.close()
  const api = await stage.another({ database: { ...database, pool } })
  await expectOutage(api, await eip191Claim(stage, claimant))
  if (how === 'slow') await proxy.close()
  await pool.end()
})

test.for(['down', 'slow', 'cut'] as const)(
  'the manifest’s host is %s: 422, in time, and the nonce stays free',
  async (how) => {
    stage.clock.now += 601_000
    const { fid, address } = await stage.claimant()
    const host = how === 'down' ? new URL(closed).host : stage.host.name
    if (how !== 'down') stage.host.faults.add(how === 'slow' ? { kind: 'hang' } : { kind: 'truncated' })
    const nonce = freshNonce()
    const start = performance.now()
    const refused = await failure(await post(stage.api, { method: 'well-known', fid, host, nonce }))
    expect(refused).toMatchObject({ status: 422, error: 'ERR_MANIFEST_FETCH_FAILED', host })
    expect(performance.now() - start).toBeLessThan(longestMs)
    if (how === 'down') return
    stage.host.faults.clear()
    stage.hub.state.setProfile(fid, { url: `https://${host}` })
    const body = { service: 'agent-directory', host, fid, addresses: [address], nonce }
    stage.host.pages.set('/.well-known/agent-directory.json', { body })
    expect((await post(stage.api, { method: 'well-known', fid, host, nonce })).status).toBe(200)
  },
)

test('a link that cannot be looked at is an outage, unless another link holds', async () => {
  stage.clock.now += 601_000
  const other = await stage.claimant()
  const { name: host } = stage.host
  const body = { service: 'agent-directory', host, fid: other.fid, addresses: [other.address] }
  stage.host.pages.set('/.well-known/agent-directory.json', { body })
  const request = { method: 'well-known', fid: other.fid, host, nonce: freshNonce() }
  stage.hub.faults.add({ kind: 'status', status: 503 }, { path: '/v1/userDataByFid' })
  expect(await failure(await post(stage.api, request))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
  stage.hub.state.setProfile(other.fid, { url: `https://${host}` })
  expect((await post(stage.api, request)).status).toBe(200)
})

test('the log says what failed, and keeps the key in a node’s address to itself', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const contract = await walletWithSalt('04')
  const key = 'secret-key-of-the-operator'
  for (const rpc of [`${closed}/v2/${key}`, `${stage.host.url}/v2/${key}`]) {
    const api = await stage.another({ rpc, log })
    await post(api, jfsClaim(stage, claimant))
    await post(api, await eip191Claim(stage, claimant, { address: contract }))
  }
  expect(lines).toHaveLength(4)
  expect(lines.join('')).toContain('optimism: ')
  expect(lines.join('')).not.toContain(key)
})
