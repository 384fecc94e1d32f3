import { expect, test } from 'vitest'
import { deleteAuditsAbove, writeAudit } from '../../db/queries/chain/audit.ts'
import { writeContracts } from '../../db/queries/chain/contracts.ts'
import { describeChain } from '../../processors/coverage/describe.ts'
import { testDatabase } from '../support/database.ts'
import { runMain } from '../support/mains.ts'
import { addressOf, hashOf, insert, seedChainState } from '../support/seed.ts'
import { publishedCoverage } from './backfill/published-coverage.ts'

const database = testDatabase()

test('what is indexed, reserved, audited and missing, with the command that closes each gap', async () => {
  const { pool, url } = database
  const file = {
    base: { tokens: [{ address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', decimals: 6, fromBlock: 10 }] },
  }
  await seedChainState(pool, { chain: 'base', chainId: 8453, indexed: 500, finalized: 490 })
  await pool.query(`update chain_state set head_block = 600`)
  await pool.query(
    `insert into backfill (chain, from_block, to_block, completed_at) values ('base', 100, 199, null), ('base', 700, 799, null)`,
  )
  await pool.query(
    `insert into backfill_shard (backfill_id, first_block, last_block, next_block)
     select id, 100, 149, 150 from backfill where from_block = 100 union all
     select id, 150, 199, 160 from backfill where from_block = 100 union all
     select id, 700, 799, 700 from backfill where from_block = 700`,
  )
  await insert(pool, 'head_range', { chain: 'base', from_block: 400, to_block: 500, next_block: 450 })
  for (const [from, to, checksum] of [
    [400, 429, '18446744073709551615'],
    [430, 449, '9223372036854775808'],
  ] as const) {
    await insert(pool, 'audit_certificate', {
      chain: 'base',
      from_block: from,
      to_block: to,
      first_hash: Buffer.from(hashOf(`${from}`).slice(2), 'hex'),
      last_hash: Buffer.from(hashOf(`${to}`).slice(2), 'hex'),
      settlements: 3,
      amount: '12345678901234567890123',
      checksum,
      missing: 1,
      surplus: 0,
      changed: 1,
      unpaid: 0,
      source: 'archive',
      payments: 4,
      payment_checksum: 5,
    })
  }
  const chain = await publishedCoverage(database, file)
  expect(chain).toMatchObject({ chain_id: 8453, indexed_block: 500, head_block: 600, recipients: 'all' })
  expect(chain.ranges).toEqual([
    { from_block: 10, to_block: 99, by: 'processor', state: 'indexed' },
    { from_block: 100, to_block: 199, by: 'backfill', state: 'loading' },
    { from_block: 200, to_block: 500, by: 'processor', state: 'indexed' },
    { from_block: 700, to_block: 799, by: 'backfill', state: 'loading' },
  ])
  expect(chain.gaps).toEqual([
    { from_block: 160, to_block: 199, command: 'npm run backfill -- --chain base --from 100 --to 199' },
    { from_block: 501, to_block: 699, command: 'npm run processor -- base' },
    { from_block: 700, to_block: 799, command: 'npm run backfill -- --chain base --from 700 --to 799' },
  ])
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 10 }])
  const { rows: view } = await pool.query(
    `select from_block, to_block, by, state, missing_blocks, command from directory.coverage where chain = 'base' order by from_block`,
  )
  const load = (from: number, to: number) => `npm run backfill -- --chain base --from ${from} --to ${to}`
  const whole = { missing_blocks: 0, command: null }
  const open = { by: 'backfill', state: 'loading' }
  expect(view).toEqual([
    { from_block: 10, to_block: 99, by: 'processor', state: 'indexed', ...whole },
    { from_block: 100, to_block: 199, ...open, missing_blocks: 40, command: load(100, 199) },
    { from_block: 200, to_block: 500, by: 'processor', state: 'indexed', ...whole },
    {
      from_block: 501,
      to_block: 699,
      by: null,
      state: 'missing',
      missing_blocks: 199,
      command: 'npm run processor -- base',
    },
    { from_block: 700, to_block: 799, ...open, missing_blocks: 100, command: load(700, 799) },
  ])
  const { rows: unfollowed } = await pool.query(`select * from directory.coverage where chain = 'celo'`)
  expect(unfollowed).toEqual([
    {
      chain: 'celo',
      from_block: 23_000_000,
      to_block: null,
      by: null,
      state: 'missing',
      missing_blocks: null,
      command: 'npm run processor -- celo',
    },
  ])
  expect([chain.audited_blocks, chain.unaudited_blocks]).toEqual([50, 51])
  expect(
    chain.certificates.map(({ checksum, mended, amount, sources }) => [checksum, mended, amount, sources]),
  ).toEqual([
    ['ffffffffffffffff', 2, '12345678901234567890123', ['archive']],
    ['8000000000000000', 2, '12345678901234567890123', ['archive']],
  ])
  const { code, stdout, stderr } = await runMain('processors/coverage/main.ts', [], {
    env: { DATABASE_URL: url },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('base: at block 500 of 600, final 490\n')
  expect(stdout).toContain('missing: 160 to 199: npm run backfill -- --chain base --from 100 --to 199\n')
  expect(stdout).toContain('of the blocks read from a node 50 are audited, 51 wait\n')
  expect(stdout).toContain(
    'checksum ffffffffffffffff, 4 payments beside them, checksum 0000000000000005, 2 mended; by audit from archive, ',
  )
})

const audit = (fromBlock: number, toBlock: number) =>
  writeAudit(database.pool, 'base', {
    fromBlock,
    toBlock,
    firstHash: hashOf(`${fromBlock}`),
    lastHash: hashOf(`${toBlock}`),
    settlements: 2,
    amount: 10n,
    checksum: 2n ** 63n + 1n,
    payments: 3,
    paymentChecksum: 2n ** 63n + 2n,
    missing: 1,
    surplus: 0,
    changed: 0,
    unpaid: 0,
    events: 3,
    agents: 0,
    custody: 0,
    source: 'portal',
  })

test('certificates of blocks that follow each other are one, up to a bound, and add up', async () => {
  const { pool } = database
  await pool.query('truncate audit_certificate, head_range')
  await audit(99_000, 99_499)
  await audit(99_500, 99_999)
  await audit(100_000, 100_099)
  await audit(100_200, 100_299)
  const { rows } = await pool.query(
    `select from_block, to_block, first_hash = sha256($1::bytea) as ok, settlements::int as settlements, checksum, missing,
            payments::int as payments, payment_checksum
       from audit_certificate order by from_block`,
    ['99000'],
  )
  expect(rows).toMatchObject([
    { from_block: 99_000, to_block: 99_999, ok: true, settlements: 4, checksum: '2', missing: 2, payments: 6 },
    { from_block: 100_000, to_block: 100_099, ok: false, settlements: 2, payments: 3 },
    { from_block: 100_200, to_block: 100_299, ok: false, settlements: 2 },
  ])
})

test('the certificate of an audit tells payments', async () => {
  const chain = await publishedCoverage(database, {})
  expect(chain.certificates.map(({ payments, payment_checksum }) => [payments, payment_checksum])).toEqual([
    [6, '0000000000000004'],
    [3, '8000000000000002'],
    [3, '8000000000000002'],
  ])
})

test('the certificate of a backfill tells payments', async () => {
  const { pool } = database
  await pool.query('truncate audit_certificate, head_range, backfill cascade')
  await pool.query(`insert into backfill (chain, from_block, to_block, completed_at) values
    ('base', 100, 199, now()), ('base', 200, 299, now())`)
  await pool.query(
    `insert into backfill_shard (backfill_id, first_block, last_block, next_block, first_hash, last_hash, payments, payment_checksum)
     select id, s.first_block, s.last_block, s.last_block + 1, sha256('first'), sha256('last'), s.payments, s.checksum
       from (values (100, 149, 2, 18446744073709551615::numeric), (150, 199, 1, 3), (200, 249, 5, 5), (250, 299, 1, 2))
              as s (first_block, last_block, payments, checksum)
       join backfill on s.first_block between from_block and to_block`,
  )
  const chain = await publishedCoverage(database, {})
  expect(chain.certificates.map(({ payments, payment_checksum }) => [payments, payment_checksum])).toEqual([
    [3, '0000000000000002'],
    [6, '0000000000000007'],
  ])
  expect(describeChain(chain)).toContain(', 3 payments beside them, checksum 0000000000000002; by backfill, ')
  const { rows } = await pool.query(
    'select payments::int, payment_checksum from directory.certificates order by from_block',
  )
  expect(rows.map(({ payments }) => payments)).toEqual([2, 1, 5, 1])
})

test('blocks below a reset whose certificate reached above it are audited again', async () => {
  const { pool } = database
  await pool.query('truncate audit_certificate, head_range')
  await audit(1_000, 1_999)
  await audit(3_000, 3_999)
  await pool.query(`insert into head_range (chain, from_block, to_block, next_block)
                    values ('base', 1000, 1999, 2000), ('base', 3000, 3999, 4000), ('base', 5000, 5999, 5100)`)
  const ranges = async () =>
    (await pool.query('select from_block, to_block, next_block from head_range order by 1')).rows.map(Object.values)
  await deleteAuditsAbove(pool, 'base', 3_499)
  expect(await ranges()).toEqual([
    [1_000, 1_999, 2_000],
    [3_000, 3_499, 3_000],
  ])
  const { rows } = await pool.query('select from_block, to_block from audit_certificate')
  expect(rows).toEqual([{ from_block: 1_000, to_block: 1_999 }])
  await deleteAuditsAbove(pool, 'base', 2_500)
  expect(await ranges()).toEqual([[1_000, 1_999, 2_000]])
})
