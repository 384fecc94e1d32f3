import { profileLimits, readingLimits } from '../../../config/limits.ts'
import { namesOf } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { chainLabel, chainPosition, hex, isoTime, list, textList } from '../sql/json-text.ts'
import { leadingFirst, saidAt } from '../sql/verification-time.ts'

/** When a source was last read for a subject, and when it is due; null: never. */
interface SourceFact {
  readonly source: string
  /** The FID or address; or the shard, for sources that are read for everybody at once. */
  readonly subject: string
  readonly last_attempt_at: string | null
  readonly last_success_at: string | null
  readonly last_outcome: string | null
  readonly due_at: string
}

/** How far a chain is indexed. */
interface ChainFact {
  readonly chain: string
  readonly indexed_block: number
  readonly indexed_at: string | null
}

/** A verification, with the registrations of the address: `tokens`, as the answers of the API call them. */
export interface VerificationFact {
  readonly fid: number
  readonly address: string
  /** Null: nobody has said when. */
  readonly verified_at: string | null
  /** When the verification ended; null: it is live. */
  readonly ended_at: string | null
  /** Registrations the address owns now, and the labels of their chains. */
  readonly tokens: number
  readonly chains: readonly string[]
  /** Registrations that came to the address and belong to another address now, or were burned. */
  readonly former_tokens: number
  /** The names of `chains`, in the same order. */
  readonly chain_names: readonly string[]
}

export interface FidFacts {
  /** Claim status of the agent; null: it is not in the index. */
  readonly agent_status: string | null
  readonly claim_method: string | null
  readonly claimed_at: string | null
  /** The newest of each address; at most `profileLimits.verifications`. */
  readonly verifications: readonly VerificationFact[]
  readonly sources: SourceFact[]
  readonly chains: readonly ChainFact[]
  /** Whether an event waits that the agent's entry does not reflect yet. */
  readonly is_queued: boolean
  /** Names of ENS that the documents of its first registrations claim, as they were checked. */
  readonly ens_names: readonly { chain: string; erc8004_id: number; name: string; status: string }[]
}

export interface AddressFacts {
  /** Registrations the address owns now, verified or not: `tokens`, as the answers of the API call them. */
  readonly tokens: number
  readonly token_chains: readonly string[]
  readonly former_tokens: number
  readonly verifications: readonly (VerificationFact & { readonly agent_status: string | null })[]
  /** FID of the agent that the address leads to; null: none. */
  readonly fid: number | null
  readonly sources: SourceFact[]
  readonly chains: readonly ChainFact[]
}

/** Names of the sources that are read by shard, for everybody at once. */
const ofShards = textList(namesOf(({ subject }) => subject === 'shard'))

const sources = (subject: string) => `(
select ${list(
  `json_build_object('source', s.source, 'subject', s.subject, 'last_attempt_at', ${isoTime('s.last_attempt_at')},
    'last_success_at', ${isoTime('s.last_success_at')}, 'last_outcome', s.last_outcome, 'due_at', ${isoTime('s.due_at')})`,
  's.source, s.subject',
)}
  from source_state s where s.subject = ${subject} or s.source in (${ofShards}))`

const chains = `(
select ${list(
  `json_build_object('chain', chain, 'indexed_block', indexed_block, 'indexed_at', ${isoTime('indexed_at')})`,
  chainPosition('chain'),
)}
  from chain_state)`

/** How many registrations an address holds, over an expression for the address. */
const registrations = (address: string) =>
  `(select count(*) from registration r where r.owner = ${address} and not r.burned)`
const registrationChains = (address: string, element = chainLabel('held.chain')) => `(
select ${list(element, chainPosition('held.chain'))}
  from (select distinct r.chain from registration r where r.owner = ${address} and not r.burned) held)`
const formerRegistrations = (address: string) => `(
select count(distinct (t.chain, t.agent_id))
  from registration_transfer t
 where t."to" = ${address}
   and not exists (select from registration r
                    where r.chain = t.chain and r.agent_id = t.agent_id and r.owner = ${address} and not r.burned))`

const verification = `
'fid', v.fid, 'address', ${hex('v.address')},
'verified_at', ${isoTime(saidAt('v'))}, 'ended_at', ${isoTime('v.ended_at')},
'tokens', ${registrations('v.address')}, 'chains', ${registrationChains('v.address')}, 'former_tokens', ${formerRegistrations('v.address')},
'chain_names', ${registrationChains('v.address', 'held.chain')}`

/** The stored facts that decide whether a FID is an agent. Undefined: its owner has taken it out of the directory. */
export async function fidFacts(db: Queryable, fid: number): Promise<FidFacts | undefined> {
  const { rows } = await db.query<{ facts: FidFacts }>({
    name: 'fid-facts',
    text: ofFid,
    values: [fid, profileLimits.verifications],
  })
  return rows[0]?.facts
}

const ofFid = `
select json_build_object(
  'agent_status', (select agent_status from agent where fid = $1::bigint),
  'claim_method', (select method from claim
                     where fid = $1::bigint and state <> 'ended' order by claimed_at desc, method, nonce limit 1),
  'claimed_at', (select ${isoTime('min(claimed_at)')} from claim where fid = $1::bigint and state <> 'ended'),
  'verifications', (
    select ${list(`json_build_object(${verification})`, 'v.address')}
      from (select distinct on (address) * from verified_address where fid = $1::bigint
             order by address, verified_at desc limit $2) v),
  'sources', ${sources(`'fid:' || $1::bigint`)},
  'chains', ${chains},
  'is_queued', exists (select from due where kind = 'agents' and key = $1::bigint::text),
  'ens_names', (
    select ${list(
      `json_build_object('chain', k.chain, 'erc8004_id', k.agent_id, 'name', one ->> 'name', 'status', one ->> 'status')`,
      `${chainPosition('k.chain')}, k.agent_id, place`,
    )}
      from (select chain, agent_id from agent_holding where fid = $1::bigint and reason is null and not unsolicited
             order by chain, agent_id limit ${readingLimits.controlRegistrations}) h
      join control_reading k using (chain, agent_id)
     cross join json_array_elements(k.names) with ordinality said (one, place))
) as facts
where not exists (select from unlisted where fid = $1::bigint)`

/** The stored facts about an address, lowercase hex. Accounts that left the directory are not named. */
export async function addressFacts(db: Queryable, address: string): Promise<AddressFacts> {
  const { rows } = await db.query<{ facts: AddressFacts }>({
    name: 'address-facts',
    text: ofAddress,
    values: [Buffer.from(address.slice(2), 'hex'), profileLimits.verifications],
  })
  return rows[0]!.facts
}

const ofAddress = `
select json_build_object(
  'tokens', ${registrations('$1::bytea')},
  'token_chains', ${registrationChains('$1::bytea')},
  'former_tokens', ${formerRegistrations('$1::bytea')},
  'verifications', (
    select ${list(`json_build_object(${verification}, 'agent_status', a.agent_status)`, 'v.fid')}
      from (select distinct on (fid) * from verified_address w where address = $1::bytea
               and not exists (select from unlisted u where u.fid = w.fid)
             order by fid, verified_at desc limit $2) v
      left join agent a using (fid)),
  'fid', (
    select a.fid from verified_address v join agent a using (fid)
     where v.address = $1::bytea and v.ended_at is null
     order by ${leadingFirst} limit 1),
  'sources', ${sources(`'address:0x' || encode($1::bytea, 'hex')`)},
  'chains', ${chains}
) as facts`
