import type pg from 'pg'
import { busiestChain, chainNames, settlementChains } from '../config/chains.ts'
import { inTransaction } from '../db/pool.ts'
import { ensurePartitions } from '../db/queries/chain/partitions/settlement-partitions.ts'

/** Indexes of `settlement` besides its key, dropped while a world is filled, which is faster. */
export const settlementIndexes = [
  { name: 'settlement_recipient', on: '(recipient, block_number desc)' },
  { name: 'settlement_payer_block', on: '(payer, block_number desc)' },
  { name: 'settlement_facilitator_block', on: '(facilitator, block_number desc)' },
  { name: 'settlement_tx', on: 'using hash (tx_hash)' },
] as const

/** How large the directory of a benchmark is. */
export interface WorldSize {
  readonly agents: number
  /** Verified addresses: the first for one agent each, the rest as second addresses. */
  readonly addresses: number
  readonly settlements: number
}

/**
 * Fills an empty, migrated database: agents with records, profiles and source times, and settlements of the last 120
 * days, most of them to few of the addresses, as payments are. The same size gives the same rows but for the clock.
 */
export async function fillWorld(pool: pg.Pool, size: WorldSize): Promise<void> {
  for (const chain of settlementChains()) {
    await inTransaction(pool, (db) => ensurePartitions(db, chain, newestBlock))
  }
  for (const statement of statements(size)) await pool.query(statement)
}

/** Block of the newest settlement, and head of the chain: both above the partitions that a new database has. */
const newestBlock = 80_000_000
const headBlock = 90_000_000

/** A random-looking address that is always the same for a number. */
const address = (n: string) => `decode(md5('address ' || ${n}) || left(md5(${n}::text), 8), 'hex')`
const hash = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`
const textArray = (texts: readonly string[]) => `array[${texts.map((text) => `'${text}'`).join(', ')}]`
const chains = textArray(chainNames)
const otherChains = settlementChains().filter((name) => name !== busiestChain)
/** Chains of the settlements, taken in turn: half of them are on the busiest chain. */
const paymentChains = [...otherChains, ...otherChains.map(() => busiestChain)]
const words = `array['trade', 'scout', 'oracle', 'mint', 'relay', 'audit', 'swap', 'vault', 'quill', 'ember', 'atlas', 'pixel',
  'harbor', 'nimbus', 'cobalt', 'falcon', 'lumen', 'orchid', 'raven', 'sable', 'tundra', 'umbra', 'velvet', 'willow']`
const word = (n: string) => `(${words})[1 + ${n} % 24]`
/** An agent's chains: one, sometimes two or three. */
const agentChains = `(select array_agg(c order by array_position(${chains}, c)) from (
  select distinct (${chains})[1 + (fid * step) % ${chainNames.length}] as c from generate_series(1, 1 + (fid % 5 = 0)::int + (fid % 20 = 0)::int) step) own)`

function statements({ agents, addresses, settlements }: WorldSize): string[] {
  return [
    `insert into verified_address (fid, address, verified_at)
     select 1 + (n - 1) % ${agents}, ${address('n')}, timestamptz '2026-02-01' + n * interval '10 seconds'
       from generate_series(1, ${addresses}) n`,
    `insert into agent (fid, handle, display_name, bio, pfp_url, oli, chains, verified_addresses, claimed, claim_method,
                        claimed_at, agent_status, registered_at, listed_at, registry_event_at, last_message_at, has_spec,
                        has_codehost, search, changed_at)
     select fid, handle, display_name, bio, 'https://images.example/' || fid, oli, chains, verified, fid % 20 = 0,
            case when fid % 20 = 0 then 'eip191' end, case when fid % 20 = 0 then listed end, 'active', listed, listed,
            listed, listed, fid % 4 = 0, fid % 6 = 0,
            lower(concat_ws(e'\\n', handle, display_name, oli)), listed
       from (
         select fid, ${word('fid')} || '-' || ${word('(fid / 24)')} || fid as handle,
                initcap(${word('(fid / 7)')} || ' ' || ${word('(fid / 11)')}) as display_name,
                repeat('An agent that works for whoever pays. ', 1 + (fid % 6)::int) as bio,
                case when fid % 10 = 0 then initcap(${word('(fid / 3)')}) || ' Protocol' end as oli,
                ${agentChains} as chains,
                (select array_agg(address order by address) from verified_address v where v.fid = one.fid) as verified,
                timestamptz '2026-02-01' + fid * interval '100 seconds' as listed
           from generate_series(1::bigint, ${agents}) one (fid)) made`,
    `insert into registration (id, chain, agent_id, owner, burned, agent_uri, agent_uri_length, registered_block,
                               registered_at, registered_tx, acquired_block, acquired_at, updated_block, updated_at)
     select chain || '-' || fid, chain, fid, verified_addresses[1], false, 'https://agents.example/' || fid, 30, fid,
            registered_at, ${hash("chain || ' mint ' || fid")}, fid, registered_at, fid, registered_at
       from agent, unnest(chains) chain`,
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at)
     select fid, chain, fid, verified_addresses[1], fid, 0, registered_at from agent, unnest(chains) chain`,
    `insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
     select chain || '-' || fid || '-0', chain, fid, verified_addresses[1], fid, 0, registered_at,
            ${hash("chain || ' mint ' || fid")}
       from agent, unnest(chains) chain`,
    'truncate due',
    `insert into agent_words (fid, names, skills, descriptions, pieces)
     select fid, names, skills, descriptions,
            json_build_array(json_build_object('field', 'handle', 'text', handle),
                             json_build_object('field', 'skill', 'text', skills),
                             json_build_object('field', 'description', 'text', descriptions))
       from (
         select fid, handle, concat_ws(e'\\n', handle, display_name, oli) as names,
                ${word('(fid / 5)')} || '-' || ${word('(fid / 13)')} || e'\\nskill' || fid % 500 as skills,
                'An agent that ' || ${word('(fid / 17)')} || 's and settles for ' || ${word('(fid / 19)')} || ' number ' || fid as descriptions
           from agent) said`,
    `insert into searched_agent (fid, search, combination, document)
     select fid, search, concat_ws('|', array_to_string(chains, ','), claimed, has_spec, has_codehost), document
       from agent join agent_words using (fid)`,
    `insert into source_state (source, subject, due_at, last_attempt_at, last_success_at)
     select source, 'fid:' || fid, now(), now(), now()
       from agent, unnest(array['socialindex', 'explorer', 'identity']) source`,
    `insert into chain_state (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
     select chain, 1, ${headBlock}, now(), ${headBlock} - 1000, ${headBlock}, now() from unnest(${chains}) chain`,
    ...settlementIndexes.map((index) => `drop index ${index.name}`),
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select 1000 + n % 5000000, now() - (120.0 * (${settlements} - n) / ${settlements}) * interval '1 day',
            (${newestBlock}.0 * n / ${settlements})::int, n % 40,
            (${textArray(paymentChains)})[1 + n % ${paymentChains.length}],
            'c', case when n % 9 = 0 then '\\xef55bec6'::bytea else '\\xe3ee160e'::bytea end, ${address('0')},
            ${address('(n % 3000)')}, ${address(`(1 + floor(power(hashint8(n) / 4294967296.0 + 0.5, 3) * ${addresses}))::bigint`)},
            ${address('(n % 50)')}, ${hash("'nonce ' || n")}, ${hash("'tx ' || n")}
       from generate_series(1::bigint, ${settlements}) n`,
    ...settlementIndexes.map((index) => `create index ${index.name} on settlement ${index.on}`),
    `update agent a
        set settlements_all = paid.ever, settlements_30d = paid.last_30d, last_settlement_at = paid.newest
       from (select v.fid, count(*) as ever, max(block_timestamp) as newest,
                    count(*) filter (where block_timestamp > now() - interval '30 days') as last_30d
               from verified_address v
               join settlement s on s.recipient = v.address
              group by v.fid) paid
      where paid.fid = a.fid`,
    'vacuum (analyze)',
  ]
}
