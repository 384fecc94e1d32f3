import { chainNames, chainOf } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'
import type { WorldAgent } from './registrations-world.ts'

/** All registrations as facts are stored of them, counted by nothing that a search reads. */
export async function storedRegistrations(db: Queryable): Promise<WorldAgent[]> {
  const { rows } = await db.query<{ agent: WorldAgent }>(`
select json_build_object(
    'chain', r.chain,
    'id', r.agent_id::text,
    'owner', '0x' || encode(r.owner, 'hex'),
    'wallet', '0x' || encode(r.agent_wallet, 'hex'),
    'uri', r.agent_uri,
    'createdAt', floor(extract(epoch from r.registered_at)),
    'updatedAt', floor(extract(epoch from r.updated_at)),
    'operators', array(
      select '0x' || encode(operator, 'hex')
        from (select distinct on (operator) operator, approved from registration_operator o
               where o.chain = r.chain and o.owner = r.owner
               order by operator, block_number desc, log_index desc) last
       where approved),
    'file', case when d.uri_sha256 is not null then json_build_object(
      'name', d.name, 'description', d.description, 'active', d.active, 'x402', d.x402_support,
      'trusts', d.supported_trust, 'services', d.services) end,
    'metadata', coalesce((select json_object_agg(m.key, encode(m.value, 'escape')) from registration_metadata m
                           where m.chain = r.chain and m.agent_id = r.agent_id), '{}'),
    'feedback', coalesce((
      select json_agg(json_build_object(
               'client', '0x' || encode(f.client, 'hex'),
               'index', f.feedback_index,
               'value', f.value,
               'decimals', f.value_decimals,
               'tag1', f.tag1,
               'tag2', f.tag2,
               'endpoint', f.endpoint,
               'createdAt', floor(extract(epoch from f.block_timestamp)),
               'revokedAt', floor(extract(epoch from f.revoked_at)),
               'responses', array(
                 select response_uri from feedback_response a
                  where a.chain = f.chain and a.agent_id = f.agent_id and a.client = f.client
                    and a.feedback_index = f.feedback_index)))
        from feedback f where f.chain = r.chain and f.agent_id = r.agent_id), '[]')) as agent
  from registration r
  left join registration_document d using (chain, agent_id)
 where not r.burned`)
  const ids = new Map(chainNames.map((name) => [name, chainOf(name).id]))
  return rows.map(({ agent }) => ({ ...agent, chainId: ids.get(agent.chain) as number }))
}
