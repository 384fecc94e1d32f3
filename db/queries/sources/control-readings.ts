import { readingLimits } from '../../../config/limits.ts'
import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { hex } from '../sql/json-text.ts'
import { approvedFor, operatorsOf } from '../sql/registration-objects.ts'

/** A registration. Ids are decimal digits. */
interface RegistrationKey {
  readonly chain: string
  readonly agentId: string
}

/** What chains are asked about a registration. Addresses are lowercase hex. */
export interface ControlQuestion extends RegistrationKey {
  /** Its owner, wallet, approved address, and the newest operators of its owner. */
  readonly accounts: readonly string[]
  /** The contract that holds it and that its metadata names as its binding (draft ERC-8217); null: none. */
  readonly binding: string | null
  /** Names of ENS that its document claims. */
  readonly names: readonly string[]
  /** Whether an agent holds it. */
  readonly isHeld: boolean
  /** Block of its last event. */
  readonly updatedBlock: number
  /** Digest of all this: another one is a reason to ask again. */
  readonly input: string
}

/** Operators of an owner that are asked about, the newest. */
const mostOperators = 8
const longestName = 255

/** SQL: whether chains are asked about a registration `r`: an agent's, or one whose binding holds it. */
const isHeld = `exists (
  select from agent_holding h
   where h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null and not h.unsolicited)`
const isAsked = `(${isHeld} or ${bindingOf('r')} is not null)`

function bindingOf(r: string): string {
  return `(select m.value from registration_metadata m
            where m.chain = ${r}.chain and m.agent_id = ${r}.agent_id and m.key = 'agent-binding'
              and length(m.value) = 20 and m.value = ${r}.owner)`
}

const acting = `
  select r.owner as address union select r.agent_wallet
   union select a.address from ${approvedFor('r')} a
   union select o.address from ${operatorsOf({ holder: 'r.owner', chain: 'r.chain', most: mostOperators })} o`

const claimedNames = `
  select distinct s.service ->> 'endpoint' as name
    from registration_document d, json_array_elements(d.services) s (service)
   where d.chain = r.chain and d.agent_id = r.agent_id and lower(s.service ->> 'name') = 'ens'
     and length(s.service ->> 'endpoint') between 3 and ${longestName}
   order by 1
   limit ${readingLimits.claimedNames}`

/** SQL: rows of what is asked about the registrations `r` of a list. */
const questions = (from: string) => `
  select q.*, md5(concat_ws(' ', q.accounts::text, q.binding, q.names::text))::uuid as input
    from (select r.chain, r.agent_id, r.updated_block, ${isHeld} as held,
                 array(select ${hex('a.address')} from (${acting}) a where a.address is not null order by 1) as accounts,
                 ${hex(bindingOf('r'))} as binding, array(${claimedNames}) as names
            from ${from}
           where r.owner is not null and not r.burned and ${isAsked}
          offset 0) q`

/** Undefined: it is no agent's registration any more, nor bound. */
export async function readControlQuestion(
  db: Queryable,
  { chain, agentId }: RegistrationKey,
): Promise<ControlQuestion | undefined> {
  const { rows } = await db.query<ControlQuestion>({
    name: 'control-question',
    text: `
select q.chain, q.agent_id::text as "agentId", q.accounts, q.binding, q.names, q.held as "isHeld",
       q.updated_block as "updatedBlock", q.input
  from (${questions('(select * from registration where chain = $1 and agent_id = $2::numeric) r')}) q`,
    values: [chain, agentId],
  })
  return rows[0]
}

const ask = (from: string) => `
insert into source_state as s (source, subject, due_at, priority)
select $2, 'token:' || q.chain || ':' || q.agent_id, $3::timestamptz, q.held::int
  from (${questions(from)}) q
  left join control_reading k using (chain, agent_id)
 where k.input is distinct from q.input
 order by 2
    on conflict (source, subject) do update
   set due_at = least(s.due_at, excluded.due_at), priority = greatest(s.priority, excluded.priority), lease_id = null
 where s.due_at > excluded.due_at`

/** Asks chains about registrations, keys `chain:id`, of which there is something else to ask than what was read. */
export async function askForControl(db: Queryable, keys: readonly string[], now: Date): Promise<void> {
  const from = `unnest($1::text[]) as one (key)
            join registration r on r.chain = split_part(one.key, ':', 1) and r.agent_id = split_part(one.key, ':', 2)::numeric`
  await db.query({ name: 'ask-for-control', text: ask(from), values: [keys, sources.control.name, now] })
}

/** The same for the registrations of some agents, the first ones of each by chain and id. */
export async function askForControlOf(db: Queryable, fids: readonly number[], now: Date): Promise<void> {
  const from = `unnest($1::bigint[]) as one (fid)
           cross join lateral (select h.chain, h.agent_id from agent_holding h
                                where h.fid = one.fid and h.reason is null and not h.unsolicited
                                order by h.chain, h.agent_id limit ${readingLimits.controlRegistrations}) held
            join registration r using (chain, agent_id)`
  await db.query({ name: 'ask-for-control-of', text: ask(from), values: [fids, sources.control.name, now] })
}

/** What chains said. */
interface ControlReading {
  readonly question: ControlQuestion
  /** As enrichment/control/accounts.ts and names.ts have them. */
  readonly accounts: readonly object[]
  readonly names: readonly object[]
  readonly binding: {
    readonly status: string
    readonly standard: string | null
    readonly token: string | null
    readonly tokenId: string | null
    readonly holder: string | null
    readonly block: { readonly number: number; readonly time: string } | null
  } | null
  readonly now: Date
}

const columns =
  'input, read_at, accounts, names, binding, binding_status, binding_standard, token_contract, token_id, master, binding_block, binding_block_at'
const insert = `
insert into control_reading as k (chain, agent_id, ${columns})
values ($1, $2::numeric, $3, $4, $5, $6, $7, $8, $9, $10, $11::numeric, $12, $13, $14)
    on conflict (chain, agent_id) do update set (${columns}) = row(${columns.replaceAll(/\w+/g, 'excluded.$&')})`

const bytes = (address: string | null | undefined) => (address ? Buffer.from(address.slice(2), 'hex') : null)

function valuesOf({ question, accounts, names, binding, now }: ControlReading) {
  const { chain, agentId, input } = question
  const { status, standard, token, tokenId, holder, block } = binding ?? {}
  const contract = bytes(question.binding)
  const lists = [JSON.stringify(accounts), JSON.stringify(names)]
  const bound = [contract, status, standard, bytes(token), tokenId, bytes(holder), block?.number, block?.time]
  return [chain, agentId, input, now, ...lists, ...bound]
}

export async function storeControlReading(db: Queryable, reading: ControlReading): Promise<void> {
  await db.query({ name: 'store-control-reading', text: insert, values: valuesOf(reading) })
}

/** Stores that not everything could be read, unless the same was read before. */
export async function noteControlUnread(db: Queryable, reading: ControlReading): Promise<void> {
  const text = `${insert}\n where k.input <> excluded.input`
  await db.query({ name: 'note-control-unread', text, values: valuesOf(reading) })
}

export async function forgetControlReading(db: Queryable, { chain, agentId }: RegistrationKey): Promise<void> {
  await db.query({
    name: 'forget-control-reading',
    text: 'delete from control_reading where chain = $1 and agent_id = $2::numeric',
    values: [chain, agentId],
  })
}
