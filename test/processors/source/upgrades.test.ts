import { expect, test } from 'vitest'
import { events as token } from '../../../abi/generated/dollar-token.ts'
import { events } from '../../../abi/generated/identity-registry.ts'
import { readChains } from '../../../config/chains.file.ts'
import { topicOf } from '../../../processors/mapping/block.ts'
import { upgradesIn } from '../../../processors/mapping/upgrades.ts'
import { request } from '../../../processors/source/wanted-logs.ts'

const { base } = readChains({ env: {} })
const usdc = base.tokens[0]?.address ?? ''
const implementation = `0x${'ab'.repeat(20)}`
const { topic } = events.Upgraded

const upgraded = (address: string, topics: string[], data = '0x') => ({
  header: { height: 7, hash: '0x', timestamp: 1_000 },
  transactions: [],
  logs: [{ logIndex: 0, transactionIndex: 0, address, topics: [topic, ...topics], data }],
})

test.each([
  ['a registry', base.registry.address, [topicOf(implementation)], '0x'],
  ['a token', usdc, [topicOf(implementation)], '0x'],
  ['a token whose proxy is older than EIP-1967', usdc, [], topicOf(implementation)],
])('an upgrade of %s is seen', (_, contract, topics, data) => {
  const found = upgradesIn(base, [upgraded(contract, topics, data)])
  expect(found).toEqual([{ block: 7, timestamp: 1_000, contract, implementation }])
})

test('an upgrade of somebody else’s contract does not count', () => {
  expect(upgradesIn(base, [upgraded(implementation, [topicOf(usdc)])])).toEqual([])
})

test('the sources are asked for the upgrades of tokens with their authorizations', () => {
  const asked: { address?: string[]; topic0?: string[] }[] = []
  request({ addLog: (log: object) => void asked.push(log) } as never, base, [])
  const ofToken = asked.filter(({ address }) => address?.includes(usdc)).flatMap(({ topic0 }) => topic0)
  expect(ofToken).toEqual([token.AuthorizationUsed.topic, topic])
})
