import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { type ContractKind, contractKinds } from '../../../config/payments.ts'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { channelCases } from '../../chain/cases/channels.ts'
import { escrowCases } from '../../chain/cases/escrows.ts'
import { jobCases } from '../../chain/cases/jobs.ts'
import { paymentCases } from '../../chain/cases/payments.ts'
import { castAddresses, setStage } from '../../chain/cases/settlement-case.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { cleanTables, startProcessor, untilSame } from '../../support/chain/index-chain.ts'
import { readChainTables } from '../../support/chain/oracle.ts'
import { chainSettings, type SettingsOptions } from '../../support/chain/settings.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const finality = 20
let chain: DevChain
let portal: Portal

beforeAll(async () => {
  chain = await startDevChain('base', { funded: castAddresses })
  const stage = await setStage(chain)
  for (const { act } of [...paymentCases, ...channelCases, ...escrowCases, ...jobCases]) await act(stage)
  await chain.client.mine({ blocks: 2 * finality })
  const blocks = await readBlocks(chain.rpc, 0, Number(await chain.client.getBlockNumber()) - finality)
  portal = await startPortal({ datasets: { [chains.base.dataset]: memorySource({ blocks }) } })
})
afterAll(async () => {
  await portal?.stop()
  await chain?.stop()
})

test.each([
  ['a node', (): SettingsOptions => ({ finality })],
  ['a Portal, with the node as its witness', (): SettingsOptions => ({ finality, portal: portal.url })],
])('what contracts paid before they came to the chain table is loaded from %s', async (_, options) => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const whole = await cleanTables(chain, options())
  const head = Number(await chain.client.getBlockNumber())
  /** Whether the processor knows all contracts of these kinds, and has loaded them up to the last final block. */
  const isLoaded = async (kinds: readonly ContractKind[]) => {
    const addresses = chainSettings(chain, { kinds })[chain.name]?.paymentContracts.map(({ address }) => address)
    const { rows } = await database.pool.query<{ loaded: number }>(
      `select count(*)::int as loaded from chain_contract c join chain_state s using (chain)
        where c.address = any ($1) and (c.next_block is null or c.next_block > s.finalized_block)`,
      [addresses],
    )
    return rows[0]?.loaded === new Set(addresses).size
  }
  let stored = 0
  for (const kinds of [['permit2_exact'] as const, ['permit2_exact', 'auth_capture'] as const, contractKinds]) {
    const processor = await startProcessor(chain, database, { ...options(), kinds })
    try {
      await processor.untilIndexed(head)
      await until('everything final is loaded', () => isLoaded(kinds))
      if (kinds === contractKinds) {
        await untilSame({ database, processor }, chain, whole)
        await processor.untilOutput(/: \d+ loaded; \d+ blocks to go, \d+:\d\d left/)
        const [, port] = /"metricsPort":(\d+)/.exec(processor.output()) ?? []
        const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
        expect(metrics).toMatch(/^agent_directory_processor_late_blocks_to_go(\{.*\})? \d+$/m)
      }
      const { payment } = await readChainTables(database.pool, chain.name)
      if (kinds !== contractKinds) expect(payment.length).toBeLessThan(whole.payment.length)
      expect(payment.length).toBeGreaterThan(stored)
      stored = payment.length
    } finally {
      await processor.stop()
    }
  }
})

test('a processor killed while it loads what contracts paid goes on there, and leaves the rows of one that was not', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const whole = await cleanTables(chain, { finality })
  const head = Number(await chain.client.getBlockNumber())
  const before = await startProcessor(chain, database, { finality, kinds: ['permit2_exact'] })
  await before.untilIndexed(head)
  await before.stop()
  const barrier = await holdLoads(database)
  for (let kills = 0; kills < 3; kills++) {
    const killed = await startProcessor(chain, database, { finality, kinds: contractKinds })
    await barrier.untilReached()
    await killed.kill('SIGKILL')
    await barrier.untilLeft()
  }
  await barrier.lift()
  const processor = await startProcessor(chain, database, { finality, kinds: contractKinds })
  try {
    await untilSame({ database, processor }, chain, whole)
  } finally {
    await processor.stop()
  }
})

/** Holds every load of what contracts paid before it commits where it is. */
async function holdLoads({ pool }: TestDatabase) {
  const client = await pool.connect()
  await client.query('select pg_advisory_lock(1, 2)')
  await client.query(`
create function hold_load() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(1, 2);
  return new;
end $$;
create trigger hold_load before update of next_block on chain_contract for each row execute function hold_load()`)
  const isHeld = async () => {
    const { rows } = await pool.query(
      `select from pg_locks join pg_database d on d.oid = database
        where datname = current_database() and locktype = 'advisory' and (classid, objid, objsubid) = (1, 2, 2) and not granted`,
    )
    return rows.length > 0
  }
  return {
    untilReached: () => until('the load is in the middle of a step', isHeld),
    /** The server notices that its client is gone when the statement ends. */
    async untilLeft() {
      await pool.query(
        `select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database
          where datname = current_database() and locktype = 'advisory' and (classid, objid, objsubid) = (1, 2, 2) and not granted`,
      )
      await until('the step is undone', async () => !(await isHeld()))
    },
    async lift() {
      await client.query('select pg_advisory_unlock(1, 2)')
      await client.query('drop trigger hold_load on chain_contract')
      client.release()
    },
  }
}
