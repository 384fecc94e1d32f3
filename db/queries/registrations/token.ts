import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { hex } from '../sql/json-text.ts'

/** The address that holds a registration, `id` in digits; undefined: there is none. */
export async function tokenHolder(
  db: Queryable,
  { chain, id }: { chain: ChainName; id: string },
): Promise<string | undefined> {
  const { rows } = await db.query<{ owner: string }>({
    name: 'token-holder',
    text: `
select ${hex('owner')} as owner from registration
 where chain = $1 and agent_id = $2::numeric and not burned and owner is not null`,
    values: [chain, id],
  })
  return rows[0]?.owner
}
