import { chainNames } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { hostOf } from '../sql/disputed-messages.ts'
import { isoTime } from '../sql/json-text.ts'
import { epochNow } from '../transparency/epoch.ts'

/**
 * JSON of `GET /api/stats`. Settlements are those paid to a verified address of an agent, each counted once however
 * many agents verify its recipient. Totals are the stored sums of the directory's parts, as the job counted them in its
 * last round, a minute ago at most while it runs. They are as of the moment since when something waits to be counted.
 */
export async function directoryStats(db: Queryable): Promise<string> {
  // Unnamed, so planned for the queue as it is.
  const { rows } = await db.query<{ body: string }>({ text: text() })
  return rows[0]?.body ?? ''
}

const sum = (column: string) => `coalesce(sum(${column}), 0)`
const supplies = () =>
  chainNames.map((name) => `'${name}', ${sum(`identities) filter (where chain = '${name}'`)}`).join(', ')

/** What the totals follow from, in this order: what waits longest of each is the first of its kind that is due. */
const behindTotals = `('agents'), ('recipients'), ('totals')`
const countedAt = `
    select least(now(), min(waits.since))
      from (values ${behindTotals}) behind (kind)
      left join lateral (
        select greatest(d.due_at, d.marked_at) as since
          from due d
         where d.kind = behind.kind and d.due_at <= now()
         order by d.kind, d.due_at, d.seq limit 1) waits on true`
const text = () => `
select json_build_object(
  'total_agents', ${sum('agents')},
  'claimed_count', ${sum('claimed')},
  'cross_chain_count', ${sum('cross_chain')},
  'addresses_indexed', ${sum('addresses')},
  'erc8004_supply', json_build_object(${supplies()}),
  'settlements', json_build_object(
    'last_24h', ${sum('last_24h')},
    'last_7d', ${sum('last_7d')},
    'last_30d', ${sum('last_30d')},
    'all', ${sum('ever')}
  ),
  'chains', (
    select json_agg(json_build_object(
             'chain', chain.name,
             'indexed_block', state.indexed_block,
             'finalized_block', state.finalized_block,
             'head_block', state.head_block,
             'lag_seconds', case when state.indexed_at is not null
                                 then greatest(0, extract(epoch from now() - state.indexed_at))::int end
           ) order by chain.position)
      from unnest(chain_names()) with ordinality as chain (name, position)
      left join chain_state state on state.chain = chain.name
  ),
  'hub', (
    select json_build_object('host', ${hostOf('h.url')}, 'since', ${isoTime('h.followed_since')},
                             'believed', h.doubt is null)
      from hub_standing h where h.followed_since is not null order by h.followed_since desc, h.url limit 1
  ),
  'log', (
    select json_build_object(
             'number', now.epoch,
             'entries', signed.size,
             'before', (select json_build_object('origin', split_part(e.note, E'\\n', 1),
                                                 'entries', split_part(e.note, E'\\n', 2)::bigint,
                                                 'checkpoint', e.note)
                          from transparency_epoch e where e.epoch = now.epoch)
           )
      from ${epochNow} now
      left join transparency_checkpoint signed on true
     where signed.size is not null or now.epoch > 1
  ),
  'generated_at', ${isoTime(`(${countedAt})`)}
)::text as body
  from directory_sum`
