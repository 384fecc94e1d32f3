import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, asyncProperty, integer } from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { portOf } from '../../ops/health.ts'
import { canonicalJson } from '../../trust/canonical-json.ts'
import { sealClaimEvent } from '../../trust/claim-event.ts'
import { registries } from '../../trust/proof/ask.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import type { ClaimProof, Statement } from '../../trust/proof/proof.ts'
import { runMain } from '../support/mains.ts'
import { rounds } from '../support/rounds.ts'
import { fid, keyOffChain, proofOf, removedKey, resealed, wallet } from './proof.ts'

const methods: Statement['kind'][] = ['eip191', 'jfs', 'well-known']
const failures = async (proof: ClaimProof) =>
  (await checkOffline(proof)).filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)

describe.each(methods)('a proof by %s', (method) => {
  test('holds in every part that needs nobody', async () => {
    const lines = await checkOffline(await proofOf(method))
    expect(lines.filter(({ outcome }) => outcome !== 'held')).toEqual([])
    expect(lines.length).toBeGreaterThan(8)
  })

  test('of which one bit is changed anywhere does not', { tags: ['rounds'] }, async () => {
    const text = JSON.stringify(await proofOf(method))
    const bytes = Buffer.from(text)
    await assert(
      asyncProperty(integer({ min: 0, max: bytes.length * 8 - 1 }), async (bit) => {
        const changed = Buffer.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
        let proof: ClaimProof
        try {
          proof = JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(changed))
        } catch {
          return // no JSON any more: nobody takes it for a proof
        }
        expect(await failures(proof)).not.toEqual([])
      }),
      { numRuns: rounds(100, 400) },
    )
  })
})

describe('a key that is on no chain', () => {
  /** No hub is asked about messages that remove keys. */
  const stillStands = expect.stringMatching(/^0x[0-9a-f]{64}: it still stands$/)

  test('is shown by what its custody address signed', async () => {
    const lines = await checkOffline(await proofOf('eip191', keyOffChain))
    expect(lines.filter(({ outcome }) => outcome !== 'held').map(({ name }) => name)).toEqual([stillStands])
    expect(lines.map(({ name }) => name)).toContainEqual(expect.stringContaining('signed that it is a key of the FID'))
  })

  test.each([
    ['another FID', fid + 1, {}],
    ['another signer', fid, { signed_by: `0x${'11'.repeat(20)}` }],
    ['other scopes', fid, { scopes: [5] }],
    ['a longer time', fid, { ttl: 7_776_001 }],
  ])('is found out when it is said of %s', async (_, ofFid, change) => {
    const proof = await proofOf('eip191', keyOffChain)
    const [key] = proof.keys
    const keys = [{ ...key!, key_add: { ...key!.key_add!, ...change } }]
    const lines = await checkOffline(resealed({ ...proof, fid: ofFid, keys }))
    expect(lines.find(({ name }) => name.includes('is a key of the FID'))?.outcome).toBe('failed')
  })

  test.each(['custody', 'key'] as const)('is shown with what removed it, signed by the %s', async (by) => {
    const removed = () => removedKey(by, 60)
    const proof = await proofOf('eip191', removed)
    const lines = await checkOffline(proof)
    expect(lines.filter(({ outcome }) => outcome !== 'held').map(({ name }) => name)).toEqual([stillStands])
    expect(lines.map(({ name }) => name)).toContainEqual(
      expect.stringContaining('the message that removed it is signed'),
    )
    const [key] = proof.keys
    for (const change of [{ timestamp: 1 }, { signed_by: `0x${'11'.repeat(20)}` }, { nonce: 9 }]) {
      const keys = [{ ...key!, key_remove: { ...key!.key_remove!, ...change } }]
      expect(await failures(resealed({ ...proof, keys }))).toContainEqual(
        expect.stringContaining('the message that removed it is signed'),
      )
    }
  })

  test('signs nothing for an address once it is removed', async () => {
    for (const seconds of [0, -60]) {
      const failed = await failures(await proofOf('eip191', () => removedKey('custody', seconds)))
      expect(failed).toEqual([`${wallet.address}: the message is of before its key was removed`])
    }
  })

  test('is the service’s word alone without the message, and no key that a token may be of', async () => {
    const alone = async () => ({ ...(await keyOffChain()), key_add: null })
    const lines = await checkOffline(await proofOf('eip191', alone))
    expect(lines.find(({ name }) => name.includes('is a key of the FID'))?.outcome).toBe('unknown')
    expect(await failures(await proofOf('jfs', keyOffChain))).toEqual(['the key is among those looked up'])
  })
})

test.each<[string, (proof: ClaimProof) => ClaimProof, string]>([
  [
    'whose message is of a key that is not named',
    (proof) => ({ ...proof, keys: [] }),
    `${wallet.address}: where its key stands was looked up`,
  ],
  ['of another FID', (proof) => ({ ...proof, fid: 8 }), 'the history is whole'],
  ['of another service', (proof) => ({ ...proof, service: 'other' }), 'the text is the one for this claim'],
  [
    'that calls a live claim ended',
    (proof) => ({ ...proof, state: 'ended' }),
    'the state is what the history ends with',
  ],
  ['without its history', (proof) => ({ ...proof, history: [] }), 'the claim is in the history'],
  [
    'whose history was written again',
    (proof) => ({ ...proof, history: [sealClaimEvent({ ...proof.history[0]!, previous: 'ab'.repeat(32) })] }),
    'the history is whole',
  ],
  [
    'by an address that the seller verified',
    (proof) => ({ ...proof, address_proofs: proof.address_proofs.map((one) => ({ ...one, before_custody: true })) }),
    'the signer is a verified address',
  ],
  ['without addresses', (proof) => ({ ...proof, address_proofs: [] }), 'the signer is a verified address'],
])('a proof %s is found out although its checksum fits', async (_, change, expected) => {
  expect(await failures(resealed(change(await proofOf('eip191'))))).toContain(expected)
})

test.each<[string, (proof: ClaimProof) => object]>([
  ['a stack of lists without an end', (proof) => ({ ...proof, ended: nested(20_000) })],
  ['a statement that is null', (proof) => ({ ...proof, statement: null })],
  ['a key without its log', (proof) => ({ ...proof, keys: [{ ...proof.keys[0], add: undefined }] })],
  ['a field that no proof has', (proof) => ({ ...proof, note: 'x' })],
])('%s is found before anything else is looked at', async (_, change) => {
  expect(await failures(change(await proofOf('eip191')) as ClaimProof)).toEqual(['the proof has its parts'])
})

function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

test('evidence nested without an end fails, and throws nothing', async () => {
  const proof = await proofOf('eip191')
  const history = proof.history.map((event) => ({ ...event, evidence: nested(20_000) }))
  expect(await failures({ ...proof, history } as ClaimProof)).toContain('the history is whole')
})

test('what is no proof at all fails, and throws nothing', async () => {
  for (const value of [null, {}, [], 'x', { keys: [null], history: [], address_proofs: [] }]) {
    expect(await failures(value as unknown as ClaimProof)).toEqual(['the proof has its parts'])
  }
})

test('the canonical form is that of RFC 8785: keys by their code units, nothing between the parts', () => {
  const value = { '\u{1f600}': 1e21, '€': null, é: [true, 'a\u000f"'], peach: 4.5, 1: {} }
  expect(canonicalJson(value)).toBe('{"1":{},"peach":4.5,"é":[true,"a\\u000f\\""],"€":null,"\u{1f600}":1e+21}')
})

describe('the command', () => {
  const run = async (args: string[]) => {
    const { code, stdout, stderr } = await runMain('trust/proof/main.ts', args)
    return { code, output: stdout + stderr }
  }
  const saved = async (proof: unknown) => {
    const folder = await mkdtemp(join(tmpdir(), 'proof-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'proof.json')
    await writeFile(path, JSON.stringify(proof))
    return path
  }

  test('says line by line what held, and exits 3 while the chain was not asked', async () => {
    const { code, output } = await run([await saved(await proofOf('eip191'))])
    expect(output).toContain(`held       ${wallet.address}: the address signed that it belongs to the FID`)
    expect(output).toMatch(/not asked +0x[0-9a-f]+: the registry had it for the FID \(name a node with --rpc-10 URL\)/)
    expect(code).toBe(3)
  })

  test.each(['x', 'Chain', ''])('exits 1 for a token whose key comes from the source “%s”', async (source) => {
    const proof = await proofOf('jfs')
    const keys = proof.keys.map((key) => ({ ...key, source: source as 'chain', add: null }))
    const { code, output } = await run([await saved(resealed({ ...proof, keys }))])
    expect(output).toMatch(/^FAILED +0x[0-9a-f]+: its source is the chain or a message$/m)
    expect(output).toMatch(/^FAILED +the key is among those looked up$/m)
    expect(code).toBe(1)
  })

  test('exits 3 for an address of which nobody looked up the key, and does not say that somebody did', async () => {
    const proof = await proofOf('eip191')
    const address_proofs = proof.address_proofs.map((one) => ({ ...one, verdict: 'signed' as const }))
    const { code, output } = await run([await saved(resealed({ ...proof, address_proofs, keys: [] }))])
    expect(output).toMatch(
      /^not asked +0x[0-9a-f]+: where its key stands was looked up \(the key was not looked up\)$/m,
    )
    expect(code).toBe(3)
  })

  test('exits 3 for a key off the chain while the proof names no custody address that could have signed for it', async () => {
    const proof = await proofOf('eip191', keyOffChain)
    const { code, output } = await run([await saved(proof), '--rpc-10', 'http://127.0.0.1:9'])
    expect(output).toMatch(/^not asked +0x[0-9a-f]+: who signed for it .+ \(the proof names no custody address\)$/m)
    expect(code).toBe(3)
  })

  test('prints what a file says in its own line, and nothing that a terminal obeys', async () => {
    const lie = 'x\nheld       everything \u001b[8m\u2028\u202e'
    const proof = await proofOf('eip191')
    const { code, output } = await run([await saved({ ...proof, [lie]: 1 })])
    expect(output).toMatch(/^FAILED +the proof has its parts \(x held {7}everything {2}\[8m {2}\)\n/m)
    const path = await saved('')
    await writeFile(path, `{"a":${lie}`)
    const refused = await run([path])
    expect([code, refused.code]).toEqual([1, 2])
    for (const text of [output, refused.output]) expect(text.trimEnd().split('\n').length).toBeLessThan(3)
    for (const text of [output, refused.output]) expect(text).not.toMatch(/[\u001b\u2028\u202e]|^held {7}everything/m)
  })

  test('says of hosts that were asked and failed that they did, not that nobody was asked', async () => {
    const failing = createServer((_req, res) => void res.writeHead(503).end('{}')).listen(0, '127.0.0.1')
    await once(failing, 'listening')
    const url = `http://127.0.0.1:${portOf(failing)}`
    try {
      const custody = { address: wallet.address, chain_id: 10, contract: registries.id, since: null, read_at: null }
      const proof = resealed({ ...(await proofOf('eip191')), custody })
      const asked = [await saved(proof), '--rpc-10', url, '--hub', url]
      const { code, output } = await run(asked)
      expect(output).toMatch(/^no answer +0x[0-9a-f]+: the registry had it for the FID \(chain 10: .+\)$/m)
      expect(output).toMatch(/^no answer +0x[0-9a-f]+: 127\.0\.0\.1:\d+ has the message \(status 503\)$/m)
      expect(output).not.toMatch(/^not asked/m)
      expect(output).toMatch(/\d+ held, 0 failed, [1-9]\d* without an answer, 0 not asked\n$/)
      expect(code).toBe(3)
    } finally {
      failing.close()
    }
  })

  test('exits 1 for a proof of a lie, 2 for arguments that are wrong', async () => {
    const lie = { ...(await proofOf('eip191')), fid: fid + 1 }
    expect((await run([await saved(lie)])).code).toBe(1)
    for (const args of [[], ['/nowhere.json'], ['a', 'b'], ['a', '--rpc-10', 'nonsense'], ['a', '--rpc-x', 'b']]) {
      expect(await run(args)).toMatchObject({ code: 2, output: expect.stringMatching(/^[^\n]+\n$/) })
    }
    expect((await run(['--help'])).output).toContain('npm run verify-proof')
  })
})
