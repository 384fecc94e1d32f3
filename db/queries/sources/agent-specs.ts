import type { ChainName } from '../../../config/chains.ts'
import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { storableText } from '../../text.ts'
import { forgetUptime } from './uptime.ts'

/** What is looked at on an agent's hosts: machine-readable documents about it, and the web pages that it names. */
export const documentKinds = ['a2a', 'mcp', 'openapi', 'web', 'x402'] as const

/** A document on an agent's host; texts are clean and short enough. Meaning of the fields: docs/rules.md 3. */
export interface StoredSpec {
  readonly kind: string
  readonly url: string
  readonly declared: boolean
  /** Its content when last read; undefined: it was never read. */
  readonly content: SpecContent | undefined
  readonly sha256: Buffer | null
  readonly version: { readonly etag: string | null; readonly lastModified: string | null } | undefined
  readonly domainVerified: boolean
  /** confirmed, missing or contradicted; null: not known yet. */
  readonly backReference: string | null
  /** When the definition of a tool was last seen changed behind the same name. */
  readonly toolsChangedAt: Date | null
  /** Of an A2A card: valid, invalid, untrusted or none. */
  readonly cardSignature: string | null
  readonly firstSeenAt: Date
  readonly lastAliveAt: Date | null
  readonly lastCheckAt: Date
  readonly lastCheckStatus: string
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  readonly consecutiveFailures: number
  /** What it asks for; members are texts or null. */
  readonly prices: readonly object[]
  /** What it says of what it sells, and how many entries at least its lists of that have, where they are cut. */
  readonly resources: readonly object[]
  readonly truncated: Readonly<Record<string, number>>
  /** What keeps callers or buyers from it: code, detail, since when. */
  readonly findings: readonly object[]
  /** Blocks that chains were asked at about its demand for payment: chain, number, time. */
  readonly chainBlocks: readonly object[]
  /** How what it describes answered a harmless request, and since when so; null: nobody has asked. */
  readonly answers: { readonly code: string; readonly since: Date; readonly latencyMs: number | null } | null
  /** Version of the readers that read its content. */
  readonly reader: number
}

/** What is kept of a document; texts are clean and bounded. */
export interface SpecContent {
  readonly title: string | null
  readonly version: string | null
  readonly skills: readonly string[]
  readonly tools: readonly string[]
  /** Number of an API's paths, or of an x402 manifest's resources for sale; null: the document has neither. */
  readonly pathCount: number | null
  /** Protocol revision of an MCP server; `toolHashes`: SHA-256 of each tool's definition, in the order of `tools`. */
  readonly protocolVersion?: string | null
  readonly toolHashes?: readonly string[]
  readonly details: SpecDetails
}

/** What else a document says, as it is stored; a list that is absent is empty. Texts are clean and bounded. */
export interface SpecDetails {
  /** Places that take requests: how they are spoken to, and in which version of the protocol. */
  readonly interfaces?: readonly {
    readonly url: string
    readonly name: string | null
    readonly binding: string | null
    readonly version: string | null
  }[]
  /** Skills that have an id or tags besides their names. */
  readonly skills?: readonly {
    readonly name: string
    readonly id: string | null
    readonly tags: readonly string[]
  }[]
  readonly security?: readonly { readonly name: string; readonly type: string | null }[]
  /** Address of the catalog that names it; undefined: it is looked for at its own place. */
  readonly catalog?: string
  /** Entries of the lists that have more than are kept, by name of the list: at least so many. */
  readonly truncated?: Readonly<Record<string, number>>
}

interface SpecInputs {
  /** `contradicted`: the registration file lists registrations, and none that the agent holds. */
  readonly services: readonly {
    name: string | null
    endpoint: string | null
    version: string | null
    contradicted: boolean
  }[]
  /** One more than is looked at where there are more, the last. */
  readonly registrations: readonly { chain: ChainName; agentId: string }[]
  readonly profileUrl: string | null
  readonly known: readonly StoredSpec[]
}

const columns = `declared, has_content, title, version, skills, tools, path_count, content_sha256, etag, last_modified,
       domain_verified, card_signature, first_seen_at, last_alive_at, last_check_at, last_check_status, http_status, latency_ms,
       consecutive_failures, protocol_version, tool_hashes, tools_changed_at, back_reference, prices, details, reader,
       resources, truncated, findings, answers, answers_since, answers_ms, chain_blocks`
const of = (table: string) => columns.replaceAll(/\w+/g, `${table}.$&`)

/** Registrations of one agent that are looked at; some holders have thousands. */
export const mostRegistrations = 100

/**
 * Services of the registrations an agent holds now, one registration after the other, and the page its account names. A
 * registration that a stranger sent names no services, but what the agent's own hosts say of it may still be confirmed.
 */
const inputsOf = (fid: string) => `
select coalesce((select json_agg(service::jsonb || jsonb_build_object('contradicted', ${namesOthersOnly(fid)})
                                 order by h.chain, h.agent_id, place)
                   from (${registrationsOf(fid)}) h
                   join registration_document d using (chain, agent_id),
                        json_array_elements(d.services) with ordinality as s (service, place)
                  where not h.unsolicited), '[]') as services,
       coalesce((select json_agg(json_build_object('chain', h.chain, 'agentId', h.agent_id::text)
                                 order by h.unsolicited, h.chain, h.agent_id)
                   from (${registrationsOf(fid, mostRegistrations + 1)}) h), '[]') as registrations,
       (select profile_url from social_profile p where p.fid = ${fid}) as "profileUrl"`

/** What to look at for an agent, and what is known. Undefined: it is not in the index. */
export async function readSpecInputs(db: Queryable, fid: number): Promise<SpecInputs | undefined> {
  const { rows } = await db.query<Omit<SpecInputs, 'known'> & { known: SpecRow[] }>({
    name: 'read-spec-inputs',
    text: `
select n.services, n.registrations, n."profileUrl",
       coalesce((select json_agg(s order by s.kind, s.url) from agent_spec s where s.fid = a.fid), '[]') as known
  from agent a
 cross join lateral (${inputsOf('a.fid')}) n
 where a.fid = $1`,
    values: [fid],
  })
  const row = rows[0]
  return row && { ...row, known: row.known.map(toDocument) }
}

/** Replaces the stored documents of an agent by these. Unchanged rows are not written. */
export async function storeSpecs(db: Queryable, fid: number, documents: readonly StoredSpec[]): Promise<void> {
  await db.query({
    name: 'store-specs',
    text: `
with given as (select * from json_populate_recordset(null::agent_spec, $2::json)),
lost as (
  delete from agent_spec s
   where s.fid = $1 and not exists (select from given g where (g.kind, g.url) = (s.kind, s.url))
)
insert into agent_spec as s (fid, kind, url, ${columns})
select fid, kind, url, ${columns} from given
    on conflict (fid, kind, url) do update
   set (${columns}) = row(${of('excluded')})
 where (${of('s')}) is distinct from (${of('excluded')})`,
    values: [
      fid,
      JSON.stringify(
        documents.map((one) => toRow(fid, one)),
        storable,
      ),
    ],
  })
}

/** Of what a look at an agent's hosts was at only a part, with at least how many there are; what is whole is left out. */
export type CheckUpCuts = { readonly [what in 'hosts' | 'places' | 'registrations' | 'documents']?: number }

/** Stores the outcome of the last check of an agent's host. */
export async function noteSpecCheck(
  db: Queryable,
  { fid, status, truncated, now }: { fid: number; status: string; truncated: CheckUpCuts; now: Date },
): Promise<void> {
  await db.query({
    name: 'note-spec-check',
    text: `
insert into agent_spec_check (fid, spec_check_status, checked_at, truncated) values ($1, $2, $3, $4)
    on conflict (fid) do update
   set (spec_check_status, checked_at, truncated) = (excluded.spec_check_status, excluded.checked_at, excluded.truncated)`,
    values: [fid, status, now, JSON.stringify(truncated)],
  })
}

/** Whether the file `d` lists registrations, all of them known, and none that the agent holds now. */
function namesOthersOnly(fid: string): string {
  return `coalesce(json_array_length(d.registrations) > 0 and not d.truncated ? 'registrations' and not exists (
           select from json_to_recordset(d.registrations) as listed (chain text, "agentId" numeric)
             join agent_holding own on own.chain = listed.chain and own.agent_id = listed."agentId"
            where own.fid = ${fid} and own.reason is null), false)`
}

function registrationsOf(fid: string, most = mostRegistrations): string {
  return `select chain, agent_id, unsolicited from agent_holding where fid = ${fid} and reason is null
           order by unsolicited, chain, agent_id limit ${most}`
}

/** Asks for a look at agents of the index where there is something else to look at than when one was last asked for. */
export async function askForSpecs(db: Queryable, fids: readonly number[], now: Date): Promise<void> {
  await db.query({
    name: 'ask-for-specs',
    text: `
with noted as (
  insert into agent_input as i (fid, source, digest)
  select a.fid, '${sources.specs.name}', md5(row(n.services::text, n.registrations::text, n."profileUrl")::text)::uuid
    from agent a
   cross join lateral (${inputsOf('a.fid')}) n
   where a.fid = any ($1::bigint[])
      on conflict (fid, source) do update set digest = excluded.digest where i.digest <> excluded.digest
  returning fid)
insert into source_state as s (source, subject, due_at, priority)
select '${sources.specs.name}', 'fid:' || fid, $2, 2 from noted order by fid
    on conflict (source, subject) do update
   set due_at = least(s.due_at, excluded.due_at), priority = excluded.priority, lease_id = null`,
    values: [fids, now],
  })
}

/** Deletes everything about the documents of agents that left the index. */
export async function forgetSpecs(db: Queryable, fids: readonly number[]): Promise<void> {
  await forgetUptime(db, fids)
  await db.query({
    name: 'forget-specs',
    text: `
with state as (
  delete from source_state
   where source = '${sources.specs.name}' and subject in (select 'fid:' || fid from unnest($1::bigint[]) as gone (fid))),
checks as (delete from agent_spec_check where fid = any ($1::bigint[]))
delete from agent_spec where fid = any ($1::bigint[])`,
    values: [fids],
  })
}

/** A document as its row, in JSON. */
function toRow(fid: number, { content, version, answers, ...document }: StoredSpec) {
  const iso = (time: Date | null) => time?.toISOString() ?? null
  return {
    fid,
    kind: document.kind,
    url: document.url,
    declared: document.declared,
    has_content: content !== undefined,
    title: content?.title ?? null,
    version: content?.version ?? null,
    skills: content?.skills ?? [],
    tools: content?.tools ?? [],
    path_count: content?.pathCount ?? null,
    content_sha256: document.sha256 && `\\x${document.sha256.toString('hex')}`,
    etag: version?.etag ?? null,
    last_modified: version?.lastModified ?? null,
    domain_verified: document.domainVerified,
    card_signature: document.cardSignature,
    first_seen_at: document.firstSeenAt.toISOString(),
    last_alive_at: iso(document.lastAliveAt),
    last_check_at: document.lastCheckAt.toISOString(),
    last_check_status: document.lastCheckStatus,
    http_status: document.httpStatus,
    latency_ms: document.latencyMs,
    consecutive_failures: document.consecutiveFailures,
    protocol_version: content?.protocolVersion ?? null,
    tool_hashes: content?.toolHashes ?? [],
    tools_changed_at: iso(document.toolsChangedAt),
    back_reference: document.backReference,
    prices: document.prices,
    details: content?.details ?? {},
    reader: document.reader,
    resources: document.resources,
    truncated: document.truncated,
    findings: document.findings,
    answers: answers?.code ?? null,
    answers_since: iso(answers?.since ?? null),
    answers_ms: answers?.latencyMs ?? null,
    chain_blocks: document.chainBlocks,
  }
}

type SpecRow = ReturnType<typeof toRow>

/** One text that Postgres refuses would keep all that was seen of the agent from being stored. */
function storable(_: string, value: unknown) {
  return typeof value === 'string' ? storableText(value) : value
}

function toDocument(row: SpecRow): StoredSpec {
  const { title, version, skills, tools, protocol_version: protocolVersion, tool_hashes: toolHashes, details } = row
  const content = { title, version, skills, tools, pathCount: row.path_count, protocolVersion, toolHashes, details }
  return {
    kind: row.kind,
    url: row.url,
    declared: row.declared,
    content: row.has_content ? content : undefined,
    sha256: row.content_sha256 === null ? null : Buffer.from(row.content_sha256.slice(2), 'hex'), // `\x…`
    version: row.has_content ? { etag: row.etag, lastModified: row.last_modified } : undefined,
    domainVerified: row.domain_verified,
    backReference: row.back_reference,
    toolsChangedAt: row.tools_changed_at === null ? null : new Date(row.tools_changed_at),
    cardSignature: row.card_signature,
    firstSeenAt: new Date(row.first_seen_at),
    lastAliveAt: row.last_alive_at === null ? null : new Date(row.last_alive_at),
    lastCheckAt: new Date(row.last_check_at),
    lastCheckStatus: row.last_check_status,
    httpStatus: row.http_status,
    latencyMs: row.latency_ms,
    consecutiveFailures: row.consecutive_failures,
    prices: row.prices,
    reader: row.reader,
    resources: row.resources,
    truncated: row.truncated,
    findings: row.findings,
    chainBlocks: row.chain_blocks,
    answers:
      row.answers === null
        ? null
        : { code: row.answers, since: new Date(row.answers_since!), latencyMs: row.answers_ms },
  }
}
