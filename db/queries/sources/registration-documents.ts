import { type ChainName, chainOf } from '../../../config/chains.ts'
import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { shownRecords } from '../sql/shown-holdings.ts'

/** A registration; the id in decimal. */
export interface RegistrationKey {
  readonly chain: string
  readonly agentId: string
}

const source = sources.agentUri.name

/**
 * Registrations whose URI has not been tried are to be read: at once when an agent of the index holds them, else when
 * there is time. A registration that never had a URI is left alone.
 */
const ask = (registrations: string) => `
insert into source_state as s (source, subject, due_at, priority)
select '${source}', 'token:' || r.chain || ':' || r.agent_id, $1,
       case when exists (select from agent_holding h
                          where h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null)
            then 2 else 0 end
  from ${registrations}
  left join registration_document d using (chain, agent_id)
 where d.tried_uri_sha256 is distinct from uri_sha256(r)
   and (coalesce(r.agent_uri_length, 0) > 0 or d.chain is not null)
 order by r.chain, r.agent_id
    on conflict (source, subject) do update
   set due_at = least(s.due_at, excluded.due_at), priority = greatest(s.priority, excluded.priority),
       lease_id = null`

/** Makes the documents of these registrations due. Leases on them end: what is being read may be of the URI before. */
export async function askForDocuments(
  db: Queryable,
  registrations: readonly RegistrationKey[],
  now: Date,
): Promise<void> {
  await db.query({
    name: 'ask-for-documents',
    text: ask('unnest($2::text[], $3::numeric[]) as met (chain, agent_id) join registration r using (chain, agent_id)'),
    values: [now, registrations.map(({ chain }) => chain), registrations.map(({ agentId }) => agentId)],
  })
}

/** Makes the documents of all registrations due, for a job that was not running when they came. */
export async function askForAllDocuments(db: Queryable, now: Date): Promise<void> {
  await db.query({ name: 'ask-for-all-documents', text: ask('registration r'), values: [now] })
}

/** Registrations of these agents that wait for their first reading go before those of strangers. */
export async function hurryDocumentsOf(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'hurry-documents-of',
    text: `
update source_state s
   set priority = 2
  from unnest($1::bigint[]) as holder (fid)
 cross join lateral ${shownRecords('holder.fid')} h
 where s.source = '${source}' and s.subject = 'token:' || h.chain || ':' || h.agent_id
   and s.priority < 2 and s.last_attempt_at is null`,
    values: [fids],
  })
}

/** Registrations that an agent holds now, in the order of chains' names and ids. */
export async function registrationsHeldBy(db: Queryable, fid: number, limit: number): Promise<RegistrationKey[]> {
  const { rows } = await db.query<RegistrationKey>({
    name: 'registrations-held-by',
    text: `
select chain, agent_id::text as "agentId" from agent_holding
 where fid = $1 and reason is null
 order by chain, agent_holding.agent_id
 limit $2`,
    values: [fid, limit],
  })
  return rows
}

interface RegistrationUri {
  /** Null: too long to be kept. */
  readonly uri: string | null
  readonly uriSha256: Buffer
  /** Whether an agent of the index holds the registration. */
  readonly held: boolean
  /** Whether one holds it that no stranger has sent it to, or that has set something since. */
  readonly isOwn: boolean
  /** Version that the host named for the stored content, when this very URI led to it. */
  readonly version?: { readonly etag: string | null; readonly lastModified: string | null }
}

/** Undefined: there is no such registration, or no longer. */
export async function readRegistrationUri(
  db: Queryable,
  { chain, agentId }: RegistrationKey,
): Promise<RegistrationUri | undefined> {
  const { rows } = await db.query<RegistrationUri>({
    name: 'read-registration-uri',
    text: `
select case when r.agent_uri is null and coalesce(r.agent_uri_length, 0) = 0 then '' else r.agent_uri end as uri,
       uri_sha256(r) as "uriSha256",
       exists (select from agent_holding h
                where h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null) as held,
       exists (select from agent_holding h
                where h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null and not h.unsolicited) as "isOwn",
       -- Content of which its own host did not send every byte is read whole each time: a host that others lead to answers
       -- "unchanged" to versions that they made up.
       case when d.uri_sha256 = uri_sha256(r) and d.own_origin
            then json_build_object('etag', d.etag, 'lastModified', d.last_modified) end as version
  from registration r
  left join registration_document d using (chain, agent_id)
 where r.chain = $1 and r.agent_id = $2`,
    values: [chain, agentId],
  })
  const row = rows[0]
  return row && { ...row, version: row.version ?? undefined }
}

interface StoredDocument {
  readonly registration: RegistrationKey
  /** SHA-256 of the URI that was read. */
  readonly uriSha256: Buffer
  /** `uri_status`: docs/rules.md 3. */
  readonly uriStatus: string
  /** Texts are clean and short enough. */
  readonly name: string | null
  readonly description: string | null
  readonly image: string | null
  readonly active: boolean | null
  readonly x402Support: boolean | null
  readonly services: readonly unknown[]
  readonly supportedTrust: readonly string[]
  /** What the file lists, of known registries; null: it lists nothing. */
  readonly registrations: readonly RegistrationKey[] | null
  /** Lists of the file of which only a part is kept, with how many entries they have. */
  readonly truncated: Readonly<Record<string, number>>
  /** Whether the address that answered, after all redirects, has the origin of the URI. */
  readonly ownOrigin: boolean
  readonly version?: { readonly etag: string | null; readonly lastModified: string | null }
}

const columns = `uri_sha256, tried_uri_sha256, uri_status, name, description, image, active, x402_support, services,
       supported_trust, etag, last_modified, registrations, truncated, own_origin`
const of = (table: string) =>
  columns
    .split(/,\s*/)
    .map((column) =>
      ['services', 'supported_trust', 'registrations'].includes(column)
        ? `${table}.${column}::text`
        : `${table}.${column}`,
    )
    .join(', ')

/** Stores what a URI led to, in place of what was known. Unchanged: nothing is written. */
export async function storeDocument(db: Queryable, document: StoredDocument, now: Date): Promise<void> {
  const { registration, uriSha256, uriStatus, name, description, image, active, x402Support, version } = document
  await db.query({
    name: 'store-document',
    text: `
insert into registration_document as d (chain, agent_id, ${columns}, updated_at, read_at)
values ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $16, $17, $15, case when $4 = 'ok' then $15::timestamptz end)
    on conflict (chain, agent_id) do update
   set (${columns}, updated_at, read_at)
       = row(${columns.replaceAll(/\w+/g, 'excluded.$&')}, excluded.updated_at, coalesce(excluded.read_at, d.read_at))
 where (${of('d')}) is distinct from (${of('excluded')})`,
    values: [
      registration.chain,
      registration.agentId,
      uriSha256,
      uriStatus,
      name,
      description,
      image,
      active,
      x402Support,
      JSON.stringify(document.services),
      JSON.stringify(document.supportedTrust),
      version?.etag ?? null,
      version?.lastModified ?? null,
      document.registrations && JSON.stringify(document.registrations),
      now,
      JSON.stringify(document.truncated),
      document.ownOrigin,
    ],
  })
}

/**
 * Stores how reading a URI went; what is known of the document stays, but for whose host answered, where one did: not null.
 * Unchanged: nothing is written.
 */
export async function noteUnread(
  db: Queryable,
  {
    registration,
    uriSha256,
    uriStatus,
    ownOrigin,
    now,
  }: Pick<StoredDocument, 'registration' | 'uriSha256' | 'uriStatus'> & { ownOrigin: boolean | null; now: Date },
): Promise<void> {
  await db.query({
    name: 'note-unread',
    text: `
insert into registration_document as d (chain, agent_id, tried_uri_sha256, uri_status, updated_at)
values ($1, $2, $3, $4, $5)
    on conflict (chain, agent_id) do update
   set tried_uri_sha256 = excluded.tried_uri_sha256, uri_status = excluded.uri_status, updated_at = excluded.updated_at,
       own_origin = d.own_origin and coalesce($6, true)
 where (d.tried_uri_sha256, d.uri_status, d.own_origin)
       is distinct from (excluded.tried_uri_sha256, excluded.uri_status, d.own_origin and coalesce($6, true))`,
    values: [registration.chain, registration.agentId, uriSha256, uriStatus, now, ownOrigin],
  })
}

/** Removes what is known of a registration's document. */
export async function forgetDocument(db: Queryable, { chain, agentId }: RegistrationKey): Promise<void> {
  await db.query({
    name: 'forget-document',
    text: 'delete from registration_document where chain = $1 and agent_id = $2',
    values: [chain, agentId],
  })
}

/** Web addresses of an account's own registrations that are looked at for a host, at most. */
const mostAddresses = 1_000

/** A web address that a registration names, and who has to be the account's own for it to count. */
interface RegisteredAddress {
  readonly url: string
  readonly chainId: number
  /** Id of the registration, in decimal. */
  readonly agentId: string
  /** Who holds the registration, and those of the verified set who passed it on to each other, unless the holder changed
   * something about it since. */
  readonly by: readonly string[]
}

/**
 * Web addresses that registrations of these holders name and that contain `host`: agentURIs, and endpoints of services
 * in what the current agentURI led to. `addresses` are the verified set of one fid, lowercase hex.
 *
 * A registration that somebody else gave to the holder counts only after the holder changed something about it:
 * otherwise anybody could link a host of his own to a stranger's fid by sending a registration there. Until then it is
 * left out, so that strangers cannot use up the limit.
 */
export async function registeredAddresses(
  db: Queryable,
  addresses: readonly string[],
  host: string,
): Promise<RegisteredAddress[]> {
  const { rows } = await db.query<{ url: string; chain: ChainName; agentId: string; by: string[] }>({
    name: 'registered-addresses',
    text: `
with received as (
  select r.*,
         array(select distinct '0x' || encode(t."from", 'hex') from registration_transfer t
                where r.updated_block <= r.acquired_block
                  and t.chain = r.chain and t.agent_id = r.agent_id and t."from" is not null
                  and (t.block_number, t.log_index) >= (coalesce(came.block_number, 0), coalesce(came.log_index, 0))
                order by 1) as givers
    from registration r
    left join lateral (
      -- The transfer that brought it to the first of the addresses; those since then were among them.
      select t.block_number, t.log_index from registration_transfer t
       where t.chain = r.chain and t.agent_id = r.agent_id and (t."from" is null or t."from" <> all ($1::bytea[]))
       order by t.block_number desc, t.log_index desc
       limit 1
    ) came on true
   where r.owner = any ($1::bytea[]) and not r.burned
), held as (
  select * from received where givers <@ array(select '0x' || encode(own, 'hex') from unnest($1::bytea[]) as own)
)
select url, chain, agent_id::text as "agentId", '0x' || encode(owner, 'hex') || givers as by
  from (select h.chain, h.agent_id, h.owner, h.givers, h.agent_uri as url from held h
         union
        select h.chain, h.agent_id, h.owner, h.givers, service ->> 'endpoint'
          from held h
          join registration r using (chain, agent_id)
          join registration_document d using (chain, agent_id)
         cross join json_array_elements(d.services) as service
         where d.uri_sha256 = uri_sha256(r)) as named
 where url ~* '^https?://' and position($2 in lower(left(url, 512))) > 0
 order by chain, owner, url, agent_id
 limit $3`,
    values: [addresses.map((address) => Buffer.from(address.slice(2), 'hex')), host, mostAddresses],
  })
  return rows.map(({ chain, ...named }) => ({ ...named, chainId: chainOf(chain).id }))
}
