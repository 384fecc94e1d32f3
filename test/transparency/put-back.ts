import type { TestDatabase } from '../support/database.ts'

const tables = ['transparency_entry', 'transparency_tile', 'transparency_checkpoint', 'transparency_epoch']

/** Keeps the log's rows as they are, and gives what puts them back, as a restore does. */
export async function keepLog({ pool }: TestDatabase): Promise<() => Promise<void>> {
  await pool.query('drop schema if exists kept cascade; create schema kept')
  for (const table of tables) await pool.query(`create table kept.${table} as table ${table}`)
  return async () => {
    await pool.query(`begin; set local session_replication_role = replica;
      ${tables.map((table) => `delete from ${table}; insert into ${table} table kept.${table};`).join('\n')}
      commit`)
  }
}
