import { keccak256 } from 'viem'
import { expect, test } from 'vitest'
import { agentFeedback, everyFeedback } from '../../../db/queries/feedback/page.ts'
import { deriveAll } from '../../derive/again.ts'
import { mint, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, hashOf, insert, seedChainState, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const payer = addressOf('payer')
const other = addressOf('other payer')
const agent = 7

interface Given {
  readonly index: number
  readonly client?: string
  readonly uri: string
  readonly hash?: string
  readonly at: Date
}

async function give({ index, client = payer, uri, hash = `0x${'00'.repeat(32)}`, at }: Given) {
  await insert(database.pool, 'feedback', {
    id: `base-${agent}-${client}-${index}`,
    chain: 'base',
    agent_id: agent,
    client: bytes(client),
    feedback_index: index,
    value: 9977,
    value_decimals: 2,
    tag1: 'uptime',
    tag2: '',
    endpoint: '',
    feedback_uri: uri,
    feedback_hash: bytes(hash),
    block_number: 500 + index,
    log_index: 0,
    block_timestamp: at,
    tx_hash: bytes(hashOf(`feedback ${index}`)),
  })
}

interface Row {
  readonly feedback_index: number
  readonly grounds: string
  readonly unit: string | null
  readonly value: number
  readonly payment: { readonly tx_hash: string; readonly block_number: number; readonly log_index: number } | null
  readonly file: {
    readonly status: string
    readonly hash: string
    readonly payment: { readonly state: string } | null
  } | null
}

test('what feedback rests on: exchanged and wrong files, named payments of ours, of others, and those of which our rows say nothing', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  await mint(pool, { id: agent, fid: agent, uri: '' })
  await job.join()
  const { rows: holdings } = await pool.query('select held_by, acquired_block from agent_holding where fid = $1', [
    agent,
  ])
  const holder = `0x${holdings[0].held_by.toString('hex')}`
  const paidAt = new Date('2026-05-01T00:00:00Z')
  const at = new Date('2026-05-02T00:00:00Z')
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  await pool.query('update chain_state set indexed_at = $1, chain_id = 8453', [clock.now()])
  await seedSettlement(pool, { chain: 'base', block: 400, payer, recipient: holder, at: paidAt })
  await seedSettlement(pool, { chain: 'base', block: 401, payer: other, recipient: addressOf('elsewhere'), at: paidAt })
  // One transaction that pays somebody else first, and the agent's wallet of later before it was its.
  const later = addressOf('later')
  const both = hashOf('tx base 402')
  for (const [logIndex, recipient] of [addressOf('elsewhere'), holder].entries())
    await seedSettlement(pool, { chain: 'base', block: 402, logIndex, payer, recipient, at: paidAt })
  await seedSettlement(pool, { chain: 'base', block: 403, payer, recipient: later, at: paidAt })
  // Somebody else first again, and that wallet when it was the agent's already, which nobody knew yet.
  const soon = new Date(at.getTime() + 1)
  for (const [logIndex, recipient] of [addressOf('elsewhere'), later, later].entries())
    await seedSettlement(pool, { chain: 'base', block: 404, logIndex, payer, recipient, at: soon })
  // Other people's payments to the agent, by somebody's word and by an account of a known facilitator; one of later; one of a
  // critic to an address that only the agent's answer names.
  const critic = addressOf('critic')
  const known = addressOf('known facilitator')
  await insert(pool, 'facilitator_sender', { address: bytes(known), name: 'known', source: 'list' })
  await seedSettlement(pool, { chain: 'base', block: 405, payer: other, recipient: holder, at: paidAt })
  await seedSettlement(pool, {
    chain: 'base',
    block: 406,
    payer: other,
    recipient: holder,
    at: paidAt,
    facilitator: known,
  })
  const dayLater = new Date(at.getTime() + 86_400_000)
  await seedSettlement(pool, { chain: 'base', block: 407, payer: critic, recipient: holder, at: dayLater })
  await seedSettlement(pool, { chain: 'base', block: 408, payer: critic, recipient: addressOf('declared'), at: paidAt })
  const paid = hashOf('tx base 400')
  const elsewhere = hashOf('tx base 401')

  const place = (index: number) => `${host.url}/${index}.json`
  const put = (index: number, file: object) => {
    const body = JSON.stringify(file, null, 2)
    host.pages.set(`/${index}.json`, { body })
    return keccak256(Buffer.from(body))
  }
  const said = { agentId: agent, clientAddress: `eip155:8453:${payer}`, value: 9977, valueDecimals: 2 }
  const proof = (txHash: string) => ({
    proofOfPayment: { fromAddress: payer, toAddress: holder, chainId: '8453', txHash },
  })
  const stranger = addressOf('stranger')
  const ofStranger = { ...said, clientAddress: stranger }
  const sdk = (file: object) => keccak256(Buffer.from(JSON.stringify(file, Object.keys(file).sort())))

  await give({ index: 1, uri: '', at })
  await give({ index: 2, uri: place(2), hash: put(2, { ...said, ...proof(paid) }), at })
  await give({ index: 3, uri: place(3), hash: put(3, { ...said, ...proof(elsewhere) }), at })
  await give({ index: 4, uri: place(4), hash: put(4, { ...said, ...proof(hashOf('nowhere')) }), at })
  put(5, { ...ofStranger, ...proof(paid) })
  await give({ index: 5, client: stranger, uri: place(5), hash: hashOf('wrong'), at })
  const nested = { ...ofStranger, mcp: { tool: 'weather' } }
  put(6, nested)
  await give({ index: 6, client: stranger, uri: place(6), hash: sdk(nested), at })
  // The file was exchanged: it is of another client.
  await give({ index: 7, client: stranger, uri: place(7), hash: put(7, said), at })
  const inline = `data:application/json;base64,${Buffer.from(JSON.stringify(ofStranger)).toString('base64')}`
  await give({ index: 8, client: stranger, uri: inline, at })
  // Somebody else's payment.
  await give({ index: 9, client: stranger, uri: place(9), hash: put(9, { ...ofStranger, ...proof(paid) }), at })
  await give({ index: 10, client: stranger, uri: `${host.url}/nothing.json`, at })
  const unsaid = (txHash: string) => ({ proofOfPayment: { fromAddress: payer, chainId: '8453', txHash } })
  await give({ index: 11, uri: place(11), hash: put(11, { ...said, ...unsaid(both) }), at })
  await give({ index: 12, uri: place(12), hash: put(12, { ...said, ...unsaid(hashOf('tx base 403')) }), at })

  await give({ index: 13, uri: place(13), hash: put(13, { ...said, ...unsaid(hashOf('tx base 404')) }), at: soon })

  const byCritic = (index: number, block: number, fromAddress: string) => {
    const proofOfPayment = { fromAddress, toAddress: holder, chainId: '8453', txHash: hashOf(`tx base ${block}`) }
    const hash = put(index, { ...said, clientAddress: critic, proofOfPayment })
    return give({ index, client: critic, uri: place(index), hash, at })
  }
  await byCritic(14, 405, critic)
  await byCritic(15, 406, other)
  await byCritic(16, 406, critic)
  await byCritic(17, 407, critic)
  const toDeclared = { ...said, clientAddress: critic, ...unsaid(hashOf('tx base 408')) }
  toDeclared.proofOfPayment.fromAddress = critic
  await give({ index: 18, client: critic, uri: place(18), hash: put(18, toDeclared), at })

  const context = { pool, now: clock.now, settlementOverloads: 'spec' } as const
  await deriveAll(context)
  await job.read('feedback_files')
  await deriveAll(context)
  await insert(pool, 'income_address', { fid: agent, address: bytes(later), chain: '', from_at: at, to_at: 'infinity' })

  const page = await agentFeedback(pool, { fid: agent, limit: 100, filter: everyFeedback, after: undefined })
  const rows = (JSON.parse(page!.rows) as Row[]).sort((a, b) => a.feedback_index - b.feedback_index)
  expect(
    rows.map(({ feedback_index, grounds, file }) => [
      feedback_index,
      grounds,
      file?.status,
      file?.hash,
      file?.payment?.state,
    ]),
  ).toEqual([
    [1, 'payment', undefined, undefined, undefined],
    [2, 'payment_named', 'ok', 'content', 'found'],
    [3, 'payment', 'ok', 'content', 'unknown'],
    [4, 'payment', 'ok', 'content', 'missing'],
    [5, 'hash_mismatch', 'ok', 'mismatch', 'unknown'],
    [6, 'file', 'ok', 'sdk', undefined],
    [7, 'none', 'foreign', 'content', undefined],
    [8, 'file', 'ok', 'none', undefined],
    [9, 'file', 'ok', 'content', 'unknown'],
    [10, 'none', 'unreachable', null, undefined],
    [11, 'payment_named', 'ok', 'content', 'found'],
    [12, 'payment', 'ok', 'content', 'found'],
    [13, 'payment_named', 'ok', 'content', 'found'],
    // What may have been paid in the same transaction is not seen, nor whose other wallet it was: none of it is a lie.
    [14, 'file', 'ok', 'content', 'unknown'],
    [15, 'file', 'ok', 'content', 'unknown'],
    [16, 'contradicted', 'ok', 'content', 'others'],
    [17, 'contradicted', 'ok', 'content', 'others'],
    [18, 'file', 'ok', 'content', 'found'],
  ])
  const payments = rows.map(({ payment }) => [payment?.tx_hash, payment?.block_number, payment?.log_index])
  expect([0, 1, 10, 12].map((place) => payments[place])).toEqual([
    [paid, 400, 0],
    [paid, 400, 0],
    [both, 402, 1],
    [hashOf('tx base 404'), 404, 1],
  ])
  expect(rows.map(({ unit, value }) => [unit, value])).toEqual(rows.map(() => ['percent', 99.77]))

  const filtered = async (filter: Partial<typeof everyFeedback>) => {
    const found = await agentFeedback(pool, {
      fid: agent,
      limit: 100,
      filter: { ...everyFeedback, ...filter },
      after: undefined,
    })
    return (JSON.parse(found!.rows) as Row[]).map((row) => row.feedback_index).sort((a, b) => a - b)
  }
  expect(await filtered({ grounds: ['file', 'payment'] })).toEqual([1, 3, 4, 6, 8, 9, 12, 14, 15, 18])
  expect(await filtered({ client: payer })).toEqual([1, 2, 3, 4, 11, 12, 13])
  expect(await filtered({ tag1: 'uptime', min_value: '99.77' })).toHaveLength(18)
  expect(await filtered({ min_value: '99.78' })).toEqual([])
  expect(await filtered({ tag1: 'starred' })).toEqual([])
  expect(await filtered({ since: soon.toISOString() })).toEqual([13])

  // What SQL says is the same, and a feedback that is undone takes its file along.
  const { rows: inSql } = await pool.query(
    'select grounds, payment_tx from directory.agent_feedback where fid = $1 order by feedback_index',
    [agent],
  )
  expect(inSql.map((row) => [row.grounds, row.payment_tx])).toEqual(
    rows.map(({ grounds, payment }) => [grounds, payment?.tx_hash ?? null]),
  )
  await pool.query('delete from feedback')
  await deriveAll(context)
  expect((await pool.query('select from feedback_file')).rowCount).toBe(0)
  expect((await pool.query(`select from source_state where source = 'feedback_files'`)).rowCount).toBe(0)
})

test('a file that was read before its registry was compared is read again, and says what it said until it was', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const at = new Date('2026-05-02T00:00:00Z')
  const said = { agentId: agent, clientAddress: `eip155:8453:${payer}` }
  const registryOn = (chainId: number) => `eip155:${chainId}:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432`
  host.pages.set('/31.json', { body: JSON.stringify({ ...said, agentRegistry: registryOn(1) }) })
  host.pages.set('/32.json', { body: JSON.stringify({ ...said, agentRegistry: registryOn(8453) }) })
  const indexes = [31, 32, 33] // the last one's host has it no more
  const id = (index: number) => `base-${agent}-${payer}-${index}`
  for (const index of indexes) {
    const uri = `${host.url}/${index}.json`
    await give({ index, uri, at })
    await pool.query(
      `insert into feedback_file (feedback_id, uri_sha256, status, hash, read_at, registry_compared)
       values ($1, sha256(convert_to($2, 'UTF8')), 'ok', 'none', $3, false)`,
      [id(index), uri, at],
    )
  }
  const context = { pool, now: clock.now, settlementOverloads: 'spec' } as const
  const told = async () => {
    const { rows } = await pool.query(
      'select status, registry_compared as compared from feedback_file where feedback_id = any ($1) order by feedback_id',
      [indexes.map(id)],
    )
    return rows.map(({ status, compared }) => `${status} ${compared}`)
  }
  await deriveAll(context)
  expect(await told()).toEqual(['ok false', 'ok false', 'ok false'])
  await job.read('feedback_files')
  expect(await told()).toEqual(['foreign true', 'ok true', 'ok false'])
  await deriveAll(context)
  const { rows } = await pool.query(
    `select subject from source_state where source = 'feedback_files' and subject = any ($1)`,
    [indexes.map((index) => `feedback:${id(index)}`)],
  )
  expect(rows).toEqual([{ subject: `feedback:${id(33)}` }])
})
