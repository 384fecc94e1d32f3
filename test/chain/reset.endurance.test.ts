import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { readChainTables } from '../support/chain/oracle.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { type Ended, runMain } from '../support/mains.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const genesisTime = 1_770_000_000
const finality = 2 // blocks
/** Several processors start one after the other. */
const timeout = 400_000

let chain: DevChain
let folder: string
let chainsFile: string
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime, funded: trafficAddresses })
  await prepareTraffic(chain)
  folder = await mkdtemp(join(tmpdir(), 'reset-test-'))
  chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(chainSettings(chain, { finality })))
})
afterAll(async () => {
  await chain?.stop()
  await rm(folder, { recursive: true, force: true })
})

function reset({ database }: Pick<ChainIndex, 'database'>, ...args: string[]): Promise<Ended> {
  return runMain('processors/reset/main.ts', args, { env: { DATABASE_URL: database.url, CHAINS_FILE: chainsFile } })
}

const rollUp = async ({ database: { pool } }: ChainIndex) => {
  while ((await rollUpSettlements({ pool, stepSettlements: 3 })) > 0);
}
/** Counts of settlements: `hours`, in the hourly roll-up; `facts`, rows that must be in it. */
async function hours({ database: { pool } }: ChainIndex) {
  const { rows } = await pool.query(
    `select (select coalesce(sum(n), 0)::int from settlement_hourly) as hours,
            (select count(*)::int from settlement s join settlement_rollup r using (chain)
              where s.block_number < r.next_block) as facts`,
  )
  return rows[0]
}

async function runsClean(index: ChainIndex) {
  const processor = await startProcessor(chain, index.database, { finality })
  try {
    await untilSame({ ...index, processor }, chain, await cleanTables(chain, { finality }))
    await expectDerived(index.database)
  } finally {
    await processor.stop()
  }
}

test('the command that a deep reorg names repairs the index, however deep it was', { timeout }, async () => {
  const fork = await forkHere(chain)
  const index = await indexChain(chain, { finality })
  try {
    await index.untilHead()
    await fork.mine(await trafficBranch(chain, 'final', 9))
    await index.untilHead()
    await rollUp(index)
    await fork.mine(await trafficBranch(chain, 'deeper', 11))
    expect(await index.processor.untilExit()).toBe(1)
    const command = /npm run reset -- (--chain base --to \d+)/.exec(index.processor.output())?.[1]
    const before = await hours(index)
    expect(before.hours).toBeGreaterThan(0)
    const { rows: registered } = await index.database.pool.query(
      'select registered_block, updated_block from registration',
    )
    const { code, stdout, stderr } = await reset(index, ...(command as string).split(' '))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const target = Number(/^base: back at block (\d+) \(the chain was a different one at \d+\)/.exec(stdout)?.[1])
    const isNewer = (row: { registered_block: number }) => row.registered_block > target
    const changed = registered.filter((row) => row.updated_block > target)
    expect(changed.filter(isNewer).length).toBeGreaterThan(0)
    expect(stdout).toContain(`, ${changed.filter(isNewer).length} new registrations among it; `)
    expect(stdout).toContain(
      `; ${changed.filter((row) => !isNewer(row)).length} older registrations that changed above `,
    )
    const after = await hours(index)
    expect(after.hours).toBe(after.facts)
    expect(after.hours).toBeLessThan(before.hours)
    await runsClean(index)
    await rollUp(index)
    const end = await hours(index)
    expect(end.hours).toBe(end.facts)
  } finally {
    await index.close()
  }
})

test('a chain that is taken back is what it was at that block', { timeout }, async () => {
  const fork = await forkHere(chain)
  const index = await indexChain(chain, { finality })
  try {
    const first = await trafficBranch(chain, 'kept', 4)
    await fork.mine(first)
    const block = Number(await chain.client.getBlockNumber())
    await index.untilHead()
    const { chain_state: _, ...then } = await index.tables()
    await fork.mine([...first, ...(await trafficBranch(chain, 'taken back', 6))])
    await index.untilHead()
    const refused = await reset(index, '--chain', 'base', '--to', String(block))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^another processor of base is running on this database; stop it first\n$/)
    await index.processor.kill('SIGTERM')
    const tooHigh = await reset(index, '--chain', 'base', '--to', String(block + 6))
    expect(tooHigh.stderr).toMatch(/^base is final up to block \d+; .* choose a block below it\n$/)
    const { code, stderr } = await reset(index, '--chain', 'base', '--to', String(block))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { chain_state: state, ...now } = await readChainTables(index.database.pool, 'base')
    expect(now).toEqual(then)
    expect(JSON.parse(state[0] as string)).toMatchObject({ indexed_block: block, finalized_block: block })
    await runsClean(index)
  } finally {
    await index.close()
  }
})

test('a chain that is reset whole starts over', { timeout }, async () => {
  const fork = await forkHere(chain)
  const index = await indexChain(chain, { finality })
  try {
    await fork.mine(await trafficBranch(chain, 'all', 4))
    await index.untilHead()
    await rollUp(index)
    await index.processor.kill('SIGTERM')
    const { code, stderr } = await reset(index, '--chain', 'base', '--all')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(Object.values(await readChainTables(index.database.pool, 'base')).flat()).toEqual([])
    expect(await hours(index)).toEqual({ hours: 0, facts: 0 })
    await runsClean(index)
  } finally {
    await index.close()
  }
})

test.each([
  [['--chain', 'base'], 'say either --to <block> or --all'],
  [['--chain', 'base', '--all', '--to', '7'], 'say either --to <block> or --all'],
  [['--chain', 'base', '--to', '-1'], /--to/],
  [['--chain', 'base', '--to', '1e3'], '--to 1e3 is not a block number'],
  [['--chain', 'bose', '--all'], /^bose is not a chain; chains are ethereum, /],
  [['--all'], /^name the chain with --chain; chains are /],
])('%j is one line and exit code 2', async (args, line) => {
  const { code, stdout, stderr } = await runMain('processors/reset/main.ts', args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(line)
  expect(stderr.trimEnd()).not.toContain('\n')
})
