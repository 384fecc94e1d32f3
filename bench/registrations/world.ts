import type pg from 'pg'
import { busiestChain, chainNames } from '../../config/chains.ts'
import { inTransaction } from '../../db/pool.ts'
import { markAll } from '../../db/queries/due/queue.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { fillWorld } from '../world.ts'

/** How many registrations there are and how much feedback on them; agents: accounts that hold some of them. */
export interface RegistrationsSize {
  readonly agents: number
  readonly registrations: number
  readonly feedback: number
}

/** The agent whose registration got a fifth of all feedback, and the one that holds an eightieth of all registrations. */
export const mostRated = 1
export const largestHolder = 2
/** First block of the feedback, one each. */
export const firstFeedbackBlock = 40_000_000
/** Number of the first registration whose holder no agent verifies. */
const firstOfStrangers = 1_000_000

/** Addresses by what they are and a number, the same as those of the statements below. */
const address = (what: string, n: string) => `substr(sha256(convert_to('${what} ' || ${n}, 'UTF8')), 1, 20)`
const tx = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`
const pick = (words: readonly string[], n: string) =>
  `(array[${words.map((word) => `'${word}'`).join(', ')}])[1 + (${n}) % ${words.length}]`
export const clients = 100_000
/** Owners of strangers' registrations hold eight each. */
const eachHolds = 8

/** Fills an empty, migrated database and derives what the search reads, as the product does. */
export async function fillRegistrations(pool: pg.Pool, size: RegistrationsSize): Promise<void> {
  await fillWorld(pool, { agents: size.agents, addresses: size.agents, settlements: size.agents })
  await inTransaction(pool, async (db) => {
    await db.query('set local session_replication_role = replica') // no trigger: what is derived is marked whole below
    for (const statement of [...registered(size), ...said(), ...rated(size), ...mayAct(size)]) await db.query(statement)
    await db.query('truncate due')
    await markAll(db, 'searched registrations')
  })
  await pool.query('vacuum (analyze)')
  const searched = derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations')
  await settle(searched, { pool, now: () => new Date(), settlementOverloads: 'spec' })
  await pool.query('vacuum (analyze)')
}

/** Registrations of strangers, and those that the largest holder has besides its own. */
function registered({ registrations }: RegistrationsSize): string[] {
  const chains = [...chainNames, ...chainNames.map(() => busiestChain)]
  return [
    `insert into registration (id, chain, agent_id, owner, burned, agent_wallet, agent_uri, agent_uri_length,
                               registered_block, registered_at, registered_tx, acquired_block, acquired_at, updated_block, updated_at)
     select chain || '-' || id, chain, id,
            case when n % 80 = 0 then (select verified_addresses[1] from agent where fid = ${largestHolder})
                 else ${address('owner', `(n / ${eachHolds})`)} end,
            false, case when n % 3 = 0 then ${address('wallet', '(n % 20000)')} end, 'https://agents.example/' || id, 30,
            30000000 + n, at, ${tx(`'mint ' || n`)}, 30000000 + n, at, 30000000 + n,
            at + (n::bigint * 7919 % ${registrations}) * interval '20 seconds'
       from (select n, ${firstOfStrangers} + n as id, ${pick(chains, 'n')} as chain,
                    timestamptz '2026-02-01' + n * interval '20 seconds' as at
               from generate_series(1, greatest(0, ${registrations} - (select count(*)::int from registration))) n) made`,
    `insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
     select id || '-0', chain, agent_id, owner, registered_block, 0, registered_at, registered_tx
       from registration where agent_id > ${firstOfStrangers}`,
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at)
     select ${largestHolder}, chain, agent_id, owner, registered_block, 0, registered_at
       from registration
      where agent_id > ${firstOfStrangers} and owner = (select verified_addresses[1] from agent where fid = ${largestHolder})`,
    `update agent a set current_total = (select count(*) from agent_holding h where h.fid = a.fid and h.reason is null)`,
    `insert into registry_event (id, chain, agent_id, event, account, uri, uri_length, block_number, log_index, block_timestamp, tx_hash)
     select id || '-registered', chain, agent_id, 'Registered', owner, agent_uri, agent_uri_length, registered_block, 1,
            registered_at, registered_tx
       from registration`,
    `insert into registration_wallet (id, chain, agent_id, wallet, block_number, log_index, block_timestamp, tx_hash)
     select id || '-wallet', chain, agent_id, agent_wallet, registered_block, 2, registered_at, registered_tx
       from registration where agent_wallet is not null`,
    `insert into income_address (fid, address, chain, from_at, to_at)
     select fid, verified_addresses[1], '', '-infinity', 'infinity' from agent`,
    `insert into income_owner (fid, address) select fid, verified_addresses[1] from agent`,
    `insert into agent_feedback (fid, summary, counted_at) values (${largestHolder}, '{}', now())`,
  ]
}

/** What documents and metadata say. */
function said(): string[] {
  const services = `json_build_array(
    json_build_object('name', 'MCP', 'endpoint', 'https://agents.example/mcp/' || n, 'version', '1',
                      'declared', json_build_object('tools', json_build_array('ask', 'tool' || n % 3000),
                                                    'prompts', json_build_array('prompt' || n % 500),
                                                    'resources', json_build_array('file://' || n % 700))),
    json_build_object('name', 'A2A', 'endpoint', 'https://agents.example/a2a/' || n, 'version', null,
                      'declared', json_build_object('skills', json_build_array('sum', 'skill' || n % 900))),
    json_build_object('name', ${pick(['web', 'ENS', 'DID', 'email'], 'n')}, 'endpoint', 'agent' || n || '.example'),
    json_build_object('name', 'OASF', 'endpoint', 'https://agents.example/oasf/' || n,
                      'declared', json_build_object('skills', json_build_array('nlp/' || n % 60),
                                                    'domains', json_build_array('domain' || n % 40))))`
  return [
    `insert into registration_document (chain, agent_id, uri_sha256, uri_status, name, description, active, x402_support,
                                        services, supported_trust, updated_at, tried_uri_sha256)
     select chain, agent_id, sha256(convert_to(agent_uri, 'UTF8')), 'ok',
            ${pick(['Quill', 'Ember', 'Atlas', 'Raven', 'Lumen', 'Sable', 'Tundra', 'Umbra'], 'n')} || ' ' ||
              ${pick(['Trade', 'Scout', 'Oracle', 'Audit', 'Relay'], 'n / 8')} || ' ' || n,
            'Works for whoever pays, with ' || md5(n::text) || '.',
            (array[true, true, false, null])[1 + n % 4], (array[true, false, null])[1 + n % 3], ${services},
            json_build_array(${pick(['reputation', 'crypto-economic', 'tee-attestation'], 'n')}), registered_at, sha256(convert_to(agent_uri, 'UTF8'))
       from (select r.*, row_number() over (order by registered_at, chain, agent_id)::int as n from registration r) r
      where n % 5 > 0`,
    `insert into registration_metadata (id, chain, agent_id, key, value, block_number, log_index, block_timestamp, tx_hash)
     select id || '-' || key, chain, agent_id, key, convert_to(key || agent_id % 50, 'UTF8'), registered_block, 2, registered_at,
            registered_tx
       from registration, unnest(array['category', 'version']) key where agent_id % 2 = 0`,
    `insert into registration_metadata (id, chain, agent_id, key, value, block_number, log_index, block_timestamp, tx_hash)
     select id || '-rare', chain, agent_id, 'rare', '\\x01', registered_block, 3, registered_at, registered_tx
       from registration where agent_id % 9973 = 0`,
  ]
}

/** Feedback, most of it on few, with payments of a tenth of its clients, responses and files. */
function rated({ registrations, feedback }: RegistrationsSize): string[] {
  const of = `case when m % 5 = 0 then 1
                   else 1 + floor(power(hashint8(m) / 4294967296.0 + 0.5, 3) * (${registrations} - 1))::int end`
  return [
    `create temp table numbered on commit drop as
     select row_number() over (order by h.fid = ${mostRated} desc nulls last, r.registered_at, r.chain, r.agent_id)::int as n, r.chain,
            r.agent_id, h.fid
       from registration r
       left join agent_holding h using (chain, agent_id)`,
    'analyze numbered',
    `insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint,
                           feedback_uri, feedback_hash, block_number, log_index, block_timestamp, tx_hash, revoked_block, revoked_at)
     select concat_ws('-', chain, agent_id, m), chain, agent_id, ${address('client', `(hashint8(m * 31)::bigint + 2147483648) % ${clients}`)},
            m, m * 7 % 100, m % 2, ${pick(['starred', 'quality', 'speed', 'uptime', ''], 'm / 5')}, ${pick(['', 'week'], 'm')},
            ${pick(['', 'https://agents.example/a2a'], 'm / 3')}, case when m % 10 = 0 then 'ipfs://' || m else '' end, ${tx('m::text')},
            ${firstFeedbackBlock} + m, 3, timestamptz '2026-05-01' + m * interval '15 seconds', ${tx(`'feedback ' || m`)},
            case when m % 20 = 1 then ${firstFeedbackBlock} + m + 1000 end,
            case when m % 20 = 1 then timestamptz '2026-05-01' + (m + 1000) * interval '15 seconds' end
       from generate_series(1, ${feedback}) m
       join numbered on numbered.n = ${of}`,
    `insert into feedback_total (chain, agent_id, standing, revoked)
     select chain, agent_id, count(*) filter (where revoked_block is null), count(revoked_block) from feedback group by 1, 2`,
    `insert into feedback_response (id, chain, agent_id, client, feedback_index, responder, response_uri, response_hash,
                                    block_number, log_index, block_timestamp, tx_hash)
     select id, chain, agent_id, client, feedback_index, client, 'https://agents.example/response', '\\x00', block_number, 4,
            block_timestamp, tx_hash
       from feedback where feedback_index % 20 = 0`,
    `insert into feedback_file (feedback_id, uri_sha256, status, hash, read_at)
     select id, ${tx('feedback_uri')}, 'ok', ${pick(['content', 'mismatch', 'none'], 'block_number')}, block_timestamp
       from feedback where feedback_uri <> ''`,
    `insert into feedback_client (client, seen_at, is_idle, registrations, generation)
     select client, min(block_timestamp), get_byte(client, 0) < 200, (array_agg(distinct chain || ':' || agent_id))[1:20], 1
       from feedback group by client`,
    `insert into feedback_group (rule, subject, clients, compared)
     select 'circle', encode(client, 'hex'), 4, 4 from feedback_client where get_byte(client, 1) < 8`,
    `insert into feedback_group (rule, subject, clients, compared)
     select 'only_rates', chain || ':' || agent_id, standing, standing from feedback_total where standing between 200 and 400`,
    `insert into settlement_payer (recipient, payer, chain, overload, first_at, last_at, n, amount, first_paid_at)
     select distinct on (address, client) address, client, '${busiestChain}', false, at, at, 1, 1000, at
       from (select i.address, f.client, f.block_timestamp - interval '1 day' as at
               from feedback f
               join numbered using (chain, agent_id)
               join income_address i using (fid)
              where get_byte(f.client, 2) < 26) paid
      order by address, client, at
         on conflict do nothing`,
  ]
}

/** Operators and approvals. One operator acts for very many owners, and one owner took back and named thousands. */
function mayAct({ agents }: RegistrationsSize): string[] {
  const named = (owner: string, operator: string, approved: string, n: string, from: string) =>
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select concat_ws('-', 'operator', ${operator}, ${n}), '${busiestChain}', ${owner}, ${operator}, ${approved}, 35000000 + ${n}, 1,
            timestamptz '2026-04-01' + ${n} * interval '1 second', ${tx(`'operator ' || ${n}`)} ${from}`
  return [
    named('verified_addresses[1]', address('operator', '(fid % 5000)'), 'true', 'fid', `from agent where fid % 2 = 0`),
    named(
      address('owner', 'n'),
      address('operator', `'of many'`),
      'true',
      'n',
      `from generate_series(1, ${agents} / 20) n`,
    ),
    named(
      `(select verified_addresses[1] from agent where fid = ${mostRated})`,
      address('named', '(n % 2500)'),
      'n % 3 > 0',
      'n',
      'from generate_series(1, 10000) n',
    ),
    `insert into registration_approval (id, chain, agent_id, owner, approved, block_number, log_index, block_timestamp, tx_hash)
     select id || '-approval', chain, agent_id, owner, ${address('operator', '(agent_id % 5000)')}, registered_block, 5,
            registered_at, registered_tx
       from registration where agent_id % 20 = 0`,
  ]
}
