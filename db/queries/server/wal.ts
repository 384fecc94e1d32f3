import type { Queryable } from '../../pool.ts'

/** Timeout of the query for a server's position, in milliseconds; a slower server counts as unreachable. */
const lookMs = 1_000

/** Position of a server in the write-ahead log. */
interface WalPlace {
  /** System identifier, shared by a primary and all its standbys; another one is another database. */
  readonly system: string
  /** The server's own address and port, to tell several standbys behind one name apart. */
  readonly server: string
  /** WAL position in bytes: written to disk by a primary, replayed by a standby. */
  readonly place: number
}

/** What is visible at a primary is below its place, but for transactions of the last second that wait for no disk. */
export async function walPlace(db: Queryable): Promise<WalPlace> {
  const { rows } = await db.query<WalPlace>({
    text: `
select system_identifier::text as system, concat_ws(' ', inet_server_addr(), inet_server_port()) as server,
       (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end - '0/0')::bigint
         as place
  from pg_control_system()`,
    query_timeout: lookMs,
  } as { text: string })
  return rows[0] as WalPlace
}
