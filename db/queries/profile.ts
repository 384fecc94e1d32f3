import type { ChainName } from '../../chains.config.ts'
import type { Queryable } from '../pool.ts'
import { profileFields, sourceTimes } from './profile-fields.ts'
import { shownSelectors } from './selectors.ts'

export interface ProfileOptions {
  readonly fid: number
  readonly settlementOverloads: 'spec' | 'all'
  /** Address of each chain's identity registry. */
  readonly registries: Record<ChainName, string>
}

/** JSON of `GET /api/agent/:fid`. Undefined: the fid is not in the index. */
export async function agentProfile(
  db: Queryable,
  { fid, settlementOverloads, registries }: ProfileOptions,
): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'agent-profile',
    text,
    values: [JSON.stringify(registries), fid, shownSelectors(settlementOverloads)],
  })
  return rows[0]?.body
}

const text = `
select json_build_object(${profileFields.map(([name, expression]) => `'${name}', ${expression}`).join(',\n')})::text as body
  from agent a
 cross join lateral (
   select count(*) filter (where s.block_timestamp > now() - interval '30 days') as last_30d,
          count(*) as ever,
          max(s.block_timestamp) as newest_at
     from settlement s
    where s.recipient = any (a.verified_addresses) and s.selector = any ($3::bytea[])
 ) paid
 cross join lateral (${sourceTimes}) source
 where a.fid = $2`
