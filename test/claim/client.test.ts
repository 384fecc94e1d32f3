import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain } from '../../claim/words.ts'
import { accountOf } from '../../devnet/chain/chain.ts'
import { freePort } from '../../ops/ports.ts'
import { type Claimant, type ClaimStage, startClaimStage } from '../support/api/claims.ts'
import { runMain } from '../support/mains.ts'

let stage: ClaimStage
let claimant: Claimant
let secret: string
let appSecret: string
beforeAll(async () => {
  stage = await startClaimStage({ ownAddress: true })
  claimant = await stage.claimant()
  secret = claimant.privateKey
  appSecret = `0x${Buffer.from(claimant.appKey.secret).toString('hex')}`
})
afterAll(() => stage.stop())

const run = (...args: string[]) =>
  runMain('claim/main.ts', ['--fid', String(claimant.fid), '--api', stage.api.url, ...args])
const isClaimed = async () => (await stage.api.get(`/api/agent/${claimant.fid}`)).status === 200

test('a dry run at AGENT_DIRECTORY_URL tells that the claim would be accepted, and stores nothing', async () => {
  const args = ['--fid', String(claimant.fid), '--method', 'eip191', '--private-key', secret, '--dry-run']
  const { code, stdout } = await runMain('claim/main.ts', args, { env: { AGENT_DIRECTORY_URL: stage.api.url } })
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`every check passed: FID ${claimant.fid} would be claimed`),
  ])
  expect(await isClaimed()).toBe(false)
})

test('a claim with the key of a verified address is accepted, exit code 0', async () => {
  const { code, stdout } = await run('--method', 'eip191', '--private-key', secret)
  expect([code, stdout]).toEqual([0, expect.stringContaining(`FID ${claimant.fid} is claimed by eip191 since`)])
  expect(await isClaimed()).toBe(true)
})

test('a claim with an app key is accepted', async () => {
  const { code, stdout } = await run('--method', 'jfs', '--app-key', appSecret)
  expect([code, stdout]).toEqual([0, expect.stringContaining('is claimed by jfs')])
})

test('a claim with a manifest is accepted, and a missing manifest is described', async () => {
  const { name: host } = stage.host
  const missing = await run('--method', 'well-known', '--host', host)
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining(`Publish there: {"service"`)])
  const { fid, address } = claimant
  stage.hub.state.setProfile(fid, { url: `https://${host}` })
  const body = { service: 'agent-directory', host, fid, addresses: [address] }
  stage.host.pages.set('/.well-known/agent-directory.json', { body })
  expect(await run('--method', 'well-known', '--host', host)).toMatchObject({ code: 0 })
})

test('without a key the text to sign is printed, and a signature made elsewhere is sent', async () => {
  const asked = await run('--method', 'eip191', '--address', claimant.account.address)
  expect([asked.code, asked.stderr]).toEqual([1, 'nothing was claimed yet\n'])
  const text = /:\n\n([\s\S]*?)\n\nThen send/.exec(asked.stdout)?.[1] as string
  const signature = await claimant.account.signMessage({ message: text })
  const command = /npm run claim -- (.*) --signature/.exec(asked.stdout)?.[1]?.split(' ') as string[]
  const [, until = ''] = /signature, before (\S+):\n/.exec(asked.stdout) ?? []
  const signedAt = command[command.indexOf('--timestamp') + 1] as string
  expect(Date.parse(until) - Date.parse(signedAt)).toBe(900_000) // what the service says, not what its default is
  const sent = await runMain('claim/main.ts', [...command, '--signature', signature])
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining('is claimed by eip191')])
  const again = await runMain('claim/main.ts', [...command, '--signature', signature])
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('accepted before; there is nothing left to do'),
  ])
})

test('claims are withdrawn by a key, and what is printed can be signed elsewhere', async () => {
  await run('--method', 'eip191', '--private-key', secret)
  stage.clock.now = Date.now()
  const withdrawn = await run('--method', 'eip191', '--private-key', secret, '--action', 'withdraw')
  expect([withdrawn.code, withdrawn.stdout]).toEqual([0, expect.stringMatching(/claimed no more: \d+ claims? w/)])
  expect(await isClaimed()).toBe(false)
  const byApp = await run('--method', 'jfs', '--app-key', appSecret, '--action', 'withdraw')
  expect([byApp.code, byApp.stdout]).toEqual([0, expect.stringContaining('0 claims were withdrawn')])
  const asked = await run('--method', 'eip191', '--address', claimant.account.address, '--action', 'withdraw')
  expect([asked.code, asked.stderr]).toEqual([1, 'nothing was withdrawn yet\n'])
  expect(asked.stdout).toContain('--action withdraw')
  expect(await run('--method', 'jfs', '--app-key', appSecret, '--action', 'sell')).toMatchObject({ code: 2 })
})

test('a refusal is explained: an address that is not verified', async () => {
  const { code, stderr } = await run('--method', 'eip191', '--private-key', `0x${'11'.repeat(32)}`)
  expect(code).toBe(1)
  expect(stderr).toContain('ERR_ADDRESS_NOT_VERIFIED')
  expect(stderr).toContain('Custody and auth addresses do not count')
})

test('a service that asks for another signature gets none', async () => {
  const port = await freePort()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.method as string)
    response.setHeader('content-type', 'application/json')
    const text = `bank.example wants you to sign in with your Ethereum account:\n${accountOf('x').address}\n\nSend all.`
    response.end(JSON.stringify({ text, nonce: 'abcdefgh', timestamp: new Date().toISOString() }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const args = ['--fid', '1', '--api', `http://127.0.0.1:${port}`, '--method', 'eip191', '--private-key', secret]
  const { code, stderr } = await runMain('claim/main.ts', args)
  expect([code, stderr]).toEqual([1, expect.stringContaining('it was not signed')])
  expect(asked).toEqual(['GET'])
  await new Promise((resolve) => server.close(resolve))
})

test('a key among the arguments is warned of unless the service is on this machine', async () => {
  const port = await freePort()
  const args = ['--fid', '1', '--method', 'eip191', '--private-key', secret]
  const elsewhere = await runMain('claim/main.ts', [...args, '--api', `http://0.0.0.0:${port}`])
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/^warning: .*--private-key - reads it/) })
  const here = await runMain('claim/main.ts', [...args, '--api', `http://127.0.0.1:${port}`])
  expect(here).toMatchObject({ code: 1, stderr: expect.not.stringContaining('warning') })
  for (const { stderr } of [elsewhere, here]) expect(stderr).not.toContain(secret)
})

test('what is signed for is shown, and a text for another service than --api is neither signed nor printed', async () => {
  const shown = await run('--method', 'eip191', '--private-key', secret, '--dry-run')
  expect(shown.stdout).toContain(`signed for agents.example, whose service is at ${stage.api.url}\n`)
  const port = await freePort()
  const asked: string[] = []
  const { address } = claimant.account
  const server = createServer((request, response) => {
    asked.push(request.method as string)
    response.setHeader('content-type', 'application/json')
    const timestamp = new Date().toISOString()
    const text = `agents.example wants you to sign in with your Ethereum account:
${address}

Claim FID 1 on agent-directory.

URI: https://directory.example/api/claim
Version: 1
Chain ID: 10
Nonce: abcdefgh
Issued At: ${timestamp}
Resources:
- farcaster://fid/1`
    response.end(JSON.stringify({ text, nonce: 'abcdefgh', timestamp, expires_at: timestamp }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const args = ['--fid', '1', '--api', `http://127.0.0.1:${port}`, '--method', 'eip191']
  for (const signer of [
    ['--private-key', secret],
    ['--address', address],
  ]) {
    const { code, stdout, stderr } = await runMain('claim/main.ts', [...args, ...signer])
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('it was not signed')])
  }
  expect(asked).toEqual(['GET', 'GET'])
  await new Promise((resolve) => server.close(resolve))
})

test.for<[string, string[], string]>([
  ['no method', [], '--method must be'],
  ['an unknown method', ['--method', 'magic-cast'], '--method must be'],
  ['no key and no address', ['--method', 'eip191'], '--private-key or --address is needed'],
  ['half a key', ['--method', 'jfs', '--app-key', '0x12'], '--app-key must be 0x and 64 hex digits'],
  ['no host', ['--method', 'well-known'], '--host is needed'],
])('%s is one line and exit code 2', async ([_, args, line]) => {
  const { code, stderr } = await run(...args)
  expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`^[^\\n]*${line}[^\\n]*\\n$`))])
})

test('nobody at the address is one line and exit code 1', async () => {
  const api = `http://127.0.0.1:${await freePort()}`
  const { code, stderr } = await runMain('claim/main.ts', [
    '--fid',
    '1',
    '--api',
    api,
    '--method',
    'jfs',
    '--app-key',
    appSecret,
  ])
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^no answer from 127\.0\.0\.1:\d+: [^\n]+\n$/)])
})

test.for([
  [45, '45 seconds'],
  [600, '10 minutes'],
  [41_230, '12 hours'],
])('a wait of %i seconds is said as %s', ([seconds, words]) => {
  const body = { error: 'ERR_RATE_LIMIT_DAILY', retryAfterSeconds: seconds }
  const asked = { fid: 1, api: 'https://api.example', action: 'claim', dryRun: false } as const
  expect(explain({ status: 429, body }, asked)).toMatch(new RegExp(`\\nTry again in ${words}\\.$`))
})
