import type { Queryable } from '../../pool.ts'

/** An account whose facilitator is known. */
interface NamedSender {
  /** Lowercase hex. */
  readonly address: string
  readonly name: string
}

/**
 * Replaces the senders of a source by these. An account that another source named before keeps that name, until
 * `releaseSenders` removes it.
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

/** Removes the names that other sources gave to these accounts. */
export async function releaseSenders(db: Queryable, source: string, addresses: readonly string[]): Promise<void> {
  await db.query({
    name: 'release-senders',
    text: `
delete from facilitator_sender s
 using (select decode(substr(address, 3), 'hex') as address from unnest($2::text[]) address) given
 where s.address = given.address and s.source <> $1`,
    values: [source, addresses],
  })
}

/** The accounts that a facilitator's own API lists. */
interface Signers {
  readonly name: string
  readonly host: string
  /** Lowercase hex. */
  readonly addresses: readonly string[]
}

/** Replaces the stored accounts that a facilitator lists; `believeSigners` decides which of them count. */
export async function storeSigners(db: Queryable, { name, host, addresses }: Signers): Promise<void> {
  await db.query({
    name: 'store-signers',
    text: `
with given as (select decode(substr(address, 3), 'hex') as address from unnest($3::text[]) address),
lost as (
  delete from facilitator_signer s
   where s.name = $1 and not exists (select from given where given.address = s.address)
)
insert into facilitator_signer as s (name, address, host)
select $1, address, $2 from given order by address
    on conflict (name, address) do update set host = excluded.host where s.host <> excluded.host`,
    values: [name, host, addresses],
  })
}

/**
 * Makes accounts that facilitators name themselves senders. A facilitator that lies gains nobody's name by it and takes
 * none away: what a published list says of an account stands; what two of them call their own is nobody's; and neither is
 * an account that a person verifies or verified, or that is the wallet of an agent.
 */
export async function believeSigners(db: Queryable, list: string): Promise<void> {
  await db.query({
    name: 'believe-signers',
    text: `
with believed as materialized (
  select s.address, min(s.name) as name, min(s.host) as host
    from facilitator_signer s
   where not exists (select from verified_address v where v.address = s.address)
     and not exists (select from income_owner o where o.address = s.address and o.because <> 'operator')
   group by s.address
  having count(*) = 1
),
lost as (
  delete from facilitator_sender s
   where s.source <> $1 and not exists (select from believed b where b.address = s.address)
)
insert into facilitator_sender as s (address, name, source)
select address, name, host from believed order by address
    on conflict (address) do update set name = excluded.name, source = excluded.source
 where s.source <> $1 and (s.source, s.name) <> (excluded.source, excluded.name)`,
    values: [list],
  })
}
