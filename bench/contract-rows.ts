import type pg from 'pg'
import { busiestChain } from '../config/chains.ts'
import { inTransaction } from '../db/pool.ts'
import { lockRollup, moveBackfillRollup } from '../db/queries/rollup/cursor.ts'

/**
 * Fills the tables behind the SQL contract that the world of a benchmark leaves empty, in a database with rolled-up
 * settlements: feedback, with so many rows on each identity of agent 1, documents, hosts, labels, edges, income, claims and
 * finished backfills.
 */
export async function fillContractRows(pool: pg.Pool, feedbackOnOne = 20_000): Promise<void> {
  for (const statement of statements(feedbackOnOne)) await pool.query(statement)
  await rollUpBackfills(pool)
  await pool.query('vacuum (analyze)')
}

/** Marks finished backfills as rolled up; otherwise every figure would read each of their settlements again. */
async function rollUpBackfills(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ id: number; next: number }>('select id, to_block + 1 as next from backfill')
  await inTransaction(pool, async (db) => {
    await lockRollup(db, busiestChain)
    for (const { id, next } of rows) await moveBackfillRollup(db, id, next)
  })
}

const hash = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`
const client = (n: string) => `substr(sha256(int8send(${n})), 1, 20)`

const statements = (feedbackOnOne: number) => [
  `insert into registration_transfer (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
   select chain || '-' || agent_id || '-1', chain, agent_id, owner, owner, registered_block + 1000000, 1,
          registered_at + interval '30 days', ${hash("chain || ' move ' || agent_id")}
     from registration where agent_id % 10 = 0`,
  `insert into registration_metadata (id, chain, agent_id, key, value, block_number, log_index, block_timestamp, tx_hash)
   select chain || '-' || agent_id || '-' || key, chain, agent_id, key, '\\x01', registered_block, 2, registered_at, registered_tx
     from registration, unnest(array['agentWallet', 'category']) key`,
  `insert into registry_event (id, chain, agent_id, event, account, uri, uri_length, block_number, log_index, block_timestamp, tx_hash)
   select id || '-registered', chain, agent_id, 'Registered', owner, agent_uri, agent_uri_length, registered_block, 1, registered_at, registered_tx
     from registration`,
  `insert into registry_event (id, chain, agent_id, event, key, value, block_number, log_index, block_timestamp, tx_hash)
   select m.id, m.chain, m.agent_id, 'MetadataSet', m.key, m.value, m.block_number, 2 + (m.key <> 'agentWallet')::int, m.block_timestamp,
          r.registered_tx
     from registration_metadata m join registration r using (chain, agent_id)`,
  `insert into registration_document (chain, agent_id, uri_status, name, services, supported_trust, updated_at)
   select chain, agent_id, 'ok', 'Agent ' || agent_id,
          json_build_array(json_build_object('name', 'A2A', 'endpoint', agent_uri),
                           json_build_object('name', (array['MCP', 'web', 'OASF'])[1 + agent_id::int % 3], 'endpoint', agent_uri)),
          json_build_array((array['reputation', 'crypto-economic', 'tee-attestation'])[1 + agent_id::int % 3]), registered_at
     from registration`,
  `insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint,
                         feedback_uri, feedback_hash, block_number, log_index, block_timestamp, tx_hash)
   select concat_ws('-', chain, agent_id, n), chain, agent_id, ${client('n * 7 + agent_id::bigint % 3000')}, n, 80 + n, 0,
          (array['quality', 'speed', 'price'])[1 + n % 3], '', '', '', '\\x00', registered_block + n, 3,
          registered_at + n * interval '1 day', ${hash("concat_ws(' ', chain, agent_id, n)")}
     from registration, generate_series(1, 5) n`,
  `insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint,
                         feedback_uri, feedback_hash, block_number, log_index, block_timestamp, tx_hash)
   select concat_ws('-', chain, agent_id, n), chain, agent_id, ${client('n % 3000')}, n, 80, 0, '', '', '', '', '\\x00',
          registered_block + n, 3, registered_at + n * interval '1 minute', ${hash("concat_ws(' ', chain, agent_id, n)")}
     from agent_holding join registration using (chain, agent_id), generate_series(6, ${feedbackOnOne}) n
    where fid = 1`,
  `insert into feedback_client (client, seen_at, is_idle, registrations, generation)
   select client, min(block_timestamp), false, (array_agg(distinct chain || ':' || agent_id))[1:20], 1 from feedback group by client`,
  `insert into income_address (fid, address, chain, from_at, to_at)
   select fid, address, '', '-infinity', 'infinity' from verified_address`,
  `insert into feedback_response (id, chain, agent_id, client, feedback_index, responder, response_uri, response_hash,
                                  block_number, log_index, block_timestamp, tx_hash)
   select id, chain, agent_id, client, feedback_index, client, 'https://agents.example/response', '\\x00', block_number, 4,
          block_timestamp, tx_hash
     from feedback where feedback_index = 1`,
  `insert into agent_spec (fid, kind, url, declared, has_content, skills, tools, domain_verified, first_seen_at, last_alive_at,
                           last_check_at, last_check_status, consecutive_failures)
   select fid, kind, 'https://agents.example/' || fid || '/' || kind, true, true, '{}', '{}', true, now(), now(), now(), 'ok', 0
     from agent, unnest(array['a2a', 'mcp']) kind where fid % 4 = 1`,
  `update agent_spec set prices = jsonb_build_array(jsonb_build_object('resource', url, 'scheme', 'exact', 'minUsd', '0.01'))`,
  `insert into agent_spec_check (fid, spec_check_status, checked_at)
   select fid, case when fid % 4 = 1 then 'found' else 'not_found' end, now() from agent`,
  `insert into spec_probe (fid, checked_at, kind, url, alive, status, latency_ms)
   select fid, now() - n * interval '4 hours', kind, url, true, 'ok', 100 + n from agent_spec, generate_series(1, 20) n`,
  `insert into spec_day (fid, day, kind, url, checks, alive, latency_ms)
   select fid, current_date - n, kind, url, 6, 6, 100 from agent_spec, generate_series(1, 30) n`,
  `insert into oli_tag (fid, address, source, slug, name, tag_type, fetched_at)
   select fid, verified_addresses[1], 'blockscout', 'label-' || fid % 500, 'Label ' || fid % 500, 'name', now()
     from agent where fid % 3 = 1`,
  `insert into agent_identity (fid, platform, identity, sources, fetched_at)
   select fid, platform, handle, '{}', now() from agent, unnest(array['ens', 'basenames', 'github']) platform`,
  `insert into codehost_profile (fid, asked_login, login, user_id, followers, top_languages, verified, source, fetched_at)
   select fid, handle, handle, fid, fid % 1000, '{}', fid % 12 = 0, 'identity', now() from agent where fid % 6 = 0`,
  `insert into agent_edge (fid, peer, kind, direction, weight)
   select fid, 1 + (fid * 31 + n * 997) % (select count(*) from agent), 'follows', 'out', 1 from agent, generate_series(1, 8) n
       on conflict do nothing`,
  `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, verified_addresses)
   select fid, 'eip191', 'nonce' || fid, '{}', '', '', now(), '{}' from agent where claimed or fid = 1`,
  `insert into claim_event (fid, seq, method, nonce, kind, at, evidence, sha256)
   select fid, 1, method, nonce, 'claimed', received_at, '{}', ${hash('nonce')} from claim`,
  `insert into facilitator_sender (address, name, source)
   select facilitator, 'Facilitator ' || row_number() over (order by facilitator) % 20, 'the published list'
     from (select distinct facilitator from facilitator_total) sender on conflict do nothing`,
  `insert into income_hour (fid, hour, recipient, chain, kind, flag, x402, first_at, last_at, n, amount, dust_n, dust_amount)
   select v.fid, h.hour, h.recipient, h.chain, case when h.overload then 'eip3009_bytes' else 'eip3009_vrs' end, 'none', true,
          h.hour, h.hour, h.n, h.amount, 0, 0
     from settlement_hourly h join verified_address v on v.address = h.recipient`,
  `insert into backfill (chain, from_block, to_block, completed_at)
   select '${busiestChain}', n * 100000, n * 100000 + 99999, now() from generate_series(0, 299) n`,
  `insert into backfill_shard (backfill_id, first_block, last_block, next_block)
   select id, from_block + n * 10000, from_block + n * 10000 + 9999, from_block + (n + 1) * 10000
     from backfill, generate_series(0, 9) n`,
  `insert into agent_change (fid, kind, changed_at) select fid, 'upsert', changed_at from agent order by fid`,
  `insert into source_cursor (source, shard, position, updated_at)
   select 'stream ' || n, '0', '', now() from generate_series(1, 10) n`,
]
