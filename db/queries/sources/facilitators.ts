import type { Queryable } from '../../pool.ts'

/** An account whose facilitator is known. */
interface NamedSender {
  /** Lowercase hex. */
  readonly address: string
  readonly name: string
}

/**
 * Makes the senders that a source names these. One that another source named before keeps that name: a host that speaks
 * for itself does not rename what a list knows, nor what another host said first.
 */
export async function storeSenders(db: Queryable, source: string, senders: readonly NamedSender[]): Promise<void> {
  await db.query({
    name: 'store-senders',
    text: `
with given as (
  select decode(substr(address, 3), 'hex') as address, name from unnest($2::text[], $3::text[]) as g (address, name)
),
lost as (
  delete from facilitator_sender s
   where s.source = $1 and not exists (select from given where given.address = s.address)
)
insert into facilitator_sender as s (address, name, source)
select address, name, $1 from given order by address
    on conflict (address) do update set name = excluded.name
 where s.source = $1 and s.name <> excluded.name`,
    values: [source, senders.map(({ address }) => address), senders.map(({ name }) => name)],
  })
}
