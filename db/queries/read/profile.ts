import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'
import { countedSettlements, newestSettlement } from '../sql/settlement-windows.ts'

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
    values: [JSON.stringify(registries), fid, settlementOverloads === 'all'],
  })
  return rows[0]?.body
}

const counted = countedSettlements({
  recipients: '(select unnest(a.verified_addresses) as address)',
  few: true,
  amounts: false,
  newest: false,
  overloads: '$3::boolean',
  windows: [
    { name: 'last_30d', since: `now() - interval '30 days'` },
    { name: 'ever', since: null },
  ],
})

const text = `
select json_build_object(${profileFields.map(([name, expression]) => `'${name}', ${expression}`).join(',\n')})::text as body
  from agent a
 cross join lateral (
   select coalesce(sum(last_30d), 0) as last_30d, coalesce(sum(ever), 0) as ever,
          ${newestSettlement('a.verified_addresses', '$3::boolean')} as newest_at
     from (${counted}) part
 ) paid
 cross join lateral (${sourceTimes}) source
 where a.fid = $2`
