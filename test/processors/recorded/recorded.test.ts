import { decodeEventLog } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { registryAbi, registryLogs } from '../../support/recorded/registrations.ts'
import { settlementRecordings } from '../../support/recorded/settlements.ts'
import type { ExpectedRows } from './rows.ts'
import { indexRecordings, type StoredRows } from './run.ts'

describe('the recordings of Base, indexed from the Portal', () => {
  let stored: StoredRows
  let expected: ExpectedRows
  beforeAll(async () => {
    ;({ stored, expected } = await indexRecordings('base', 'portal'))
  })

  test('every stored row is what the recordings say, and nothing else is stored', () => {
    expect(stored).toEqual({ ...expected, feedback: [], unpaid_authorization: [] })
    expect(stored.settlement).toHaveLength(18)
    expect(stored.builder_code).toHaveLength(5)
    expect(stored.registration).toHaveLength(8)
  })

  test('all eighteen settlements carry their true selector: twelve 0xe3ee160e, six 0xcf092995', () => {
    const selectors = stored.settlement.map(({ selector }) => selector)
    expect(selectors.filter((selector) => selector === '\\xe3ee160e')).toHaveLength(12)
    expect(selectors.filter((selector) => selector === '\\xcf092995')).toHaveLength(6)
  })

  test('a payment that a contract forwarded to the token is among them', () => {
    const forwarded = settlementRecordings().filter(
      ({ transaction }) => transaction.to !== '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    )
    expect(forwarded).toHaveLength(1)
    const { hash } = forwarded[0]!.transaction
    expect(stored.settlement.find(({ tx_hash }) => tx_hash === `\\x${hash.slice(2)}`)).toMatchObject({
      payer: '\\x6460886fad4d84ee54a9f463804b9022f26c3e5e',
      recipient: '\\x9c955c40dc98fce89a133f402ffbf94070e6e299',
      amount: 1000,
      selector: '\\xcf092995',
    })
  })
})

describe('the recordings of Ethereum, indexed from the Portal', () => {
  let stored: StoredRows
  let expected: ExpectedRows
  beforeAll(async () => {
    ;({ stored, expected } = await indexRecordings('ethereum', 'portal'))
  })

  test('every stored row is what the recordings say, and nothing else is stored', () => {
    expect(stored).toEqual({ ...expected, feedback: [], unpaid_authorization: [] })
    expect(stored.registration_transfer).toHaveLength(109 + 853 + 25)
  })

  test('each of the 109 recorded registrations has its owner and the newest URI on file', () => {
    const { registered, uriUpdated } = registryLogs()
    expect(registered).toHaveLength(109)
    for (const log of registered) {
      const { args } = decodeEventLog({
        abi: registryAbi,
        eventName: 'Registered',
        topics: log.topics as never,
        data: log.data,
      })
      const update = uriUpdated.findLast((other) => other.topics[1] === log.topics[1])
      const updated =
        update &&
        decodeEventLog({ abi: registryAbi, eventName: 'URIUpdated', topics: update.topics as never, data: update.data })
      expect(stored.registration.find(({ agent_id }) => agent_id === Number(args.agentId))).toMatchObject({
        owner: `\\x${args.owner.slice(2).toLowerCase()}`,
        agent_uri: updated?.args.newURI ?? args.agentURI,
        registered_block: log.blockNumber,
        registered_tx: `\\x${log.transactionHash.slice(2)}`,
      })
    }
  })

  test('one transaction registers 182 agents, the first of them all is agent 0', () => {
    const inTransaction = new Map<unknown, number>()
    for (const { registered_tx } of stored.registration) {
      inTransaction.set(registered_tx, (inTransaction.get(registered_tx) ?? 0) + 1)
    }
    expect(Math.max(...inTransaction.values())).toBe(182)
    expect(stored.registration[0]).toMatchObject({ agent_id: 0, registered_block: 24339925 })
  })

  test('a token known by a URI update alone has no owner', () => {
    const unowned = stored.registration.filter(({ owner }) => owner === null)
    expect(unowned).toHaveLength(17)
    for (const row of unowned) expect(row.agent_uri_length).toBeGreaterThan(0)
  })
})
