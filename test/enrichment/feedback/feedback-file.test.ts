import { keccak256 } from 'viem'
import { expect, test } from 'vitest'
import { chainOf } from '../../../config/chains.ts'
import { hashStateOf, toFeedbackFile } from '../../../enrichment/feedback/feedback-file.ts'

const client = '0x00000000000000000000000000000000000000aa'
const hash = keccak256(Buffer.from('something else'))
const feedback = { chain: 'base', agentId: '7', client, hash }
const registry = chainOf('base').registry.address

test.each([
  [100, 900, 'sdk'],
  [101, 0, 'mismatch'],
  [100, 1_000, 'mismatch'],
])('the SDK’s hash of a file of %i names and %i objects is %s', (names, objects, state) => {
  const rest = Object.fromEntries(Array.from({ length: names - 1 }, (_, n) => [`b${n}`, n]))
  const value = { ...rest, a: Array.from({ length: objects }, () => ({ a: 1, inner: 2 })) }
  const said = JSON.stringify(value, Object.keys(value).sort())
  const own = { ...feedback, hash: keccak256(Buffer.from(said)) }
  expect(hashStateOf(Buffer.from(JSON.stringify(value, null, 2)), value, own)).toBe(state)
})

test.each([
  [7, false],
  ['7', false],
  ['007', false],
  [8, true],
  ['9007199254740993', true],
  [2 ** 53 + 2, false], // it may be any of several
  [{ toString: 1 }, false],
])('a file about agent %j is of another: %s', (agentId, isForeign) => {
  expect(toFeedbackFile({ agentId }, feedback)).toMatchObject({ isForeign })
})

test.each([
  [`eip155:8453:${registry}`, false],
  [`eip155:8453:${registry.toUpperCase().replace('0X', '0x')}`, false],
  [`eip155:1:${registry}`, true],
  [`eip155:8453:${client}`, true],
  [registry, false], // of which chain it does not say
  [8453, false],
])('a file about an agent of the registry %j is of another: %s', (agentRegistry, isForeign) => {
  expect(toFeedbackFile({ agentRegistry, agentId: 7 }, feedback)).toMatchObject({ isForeign })
})

test.each([
  [8453, 8453],
  ['8453', 8453],
  [{ toString: 1 }, undefined],
  [[8453], undefined],
  [true, undefined],
])('a payment on chain %j is on %s', (chainId, known) => {
  const proofOfPayment = { txHash: hash, chainId }
  expect(toFeedbackFile({ proofOfPayment }, feedback)?.payment?.chainId).toBe(known)
})
