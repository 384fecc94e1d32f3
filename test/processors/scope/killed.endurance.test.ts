import { expect, test } from 'vitest'
import { keepTo, untilSettled, verify } from '../../support/chain/scope.ts'
import type { TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { firstBlock, paidBlocks, recipientsOf, startStage } from './stage.ts'

const timeout = 400_000

test('a processor killed in the middle of a load goes on behind its last step', { timeout }, async () => {
  // A step looks whether it is full each time 1,000 blocks wait for their traces: the first thousand fill it.
  const blocks = 1_200
  const perBlock = 45
  const stage = await startStage(paidBlocks(blocks, perBlock, 4))
  try {
    const all = await stage.cleanSettlements(firstBlock + blocks - 1)
    const recipients = recipientsOf(all)
    const database = await stage.database()
    for (const [fid, address] of recipients.slice(0, 3).entries()) await verify(database.pool, fid + 1, address)
    const barrier = await stopLoadBeyond(database, firstBlock)
    const killed = await stage.start(database)
    await barrier.untilReached()
    await killed.kill('SIGKILL')
    expect(await barrier.lift()).toBeLessThan(firstBlock + blocks)
    const processor = await stage.start(database)
    await untilSettled(database.pool, 'base', keepTo(all, recipients.slice(0, 3)), { processor })
    await processor.untilOutput(new RegExp(`loading the settlements of 3 recipients, blocks (?!${firstBlock} )`))
  } finally {
    await stage.end()
  }
})

/** Lets a load complete one step beyond the block, and blocks it in the middle of the next. */
async function stopLoadBeyond({ pool }: TestDatabase, block: number) {
  const client = await pool.connect()
  await client.query('select pg_advisory_lock(1, 2)')
  await client.query(`
create function hold_load() returns trigger language plpgsql as $$
begin
  if old.next_block > ${block} then perform pg_advisory_xact_lock_shared(1, 2); end if;
  return new;
end $$;
create trigger hold_load before update of next_block on known_recipient
  for each row execute function hold_load()`)
  const isHeld = async () => {
    const { rows } = await pool.query(
      `select from pg_locks join pg_database d on d.oid = database
        where datname = current_database() and locktype = 'advisory' and (classid, objid, objsubid) = (1, 2, 2) and not granted`,
    )
    return rows.length > 0
  }
  return {
    untilReached: () => until('the load is in the middle of a step', isHeld),
    /** Releases the load; resolves with the lowest next block of all recipients. */
    async lift(): Promise<number> {
      await client.query('select pg_advisory_unlock(1, 2)')
      await client.query('drop trigger hold_load on known_recipient') // waits for the step of the killed processor
      client.release()
      const { rows } = await pool.query('select min(next_block) as next from known_recipient')
      return rows[0].next
    },
  }
}
