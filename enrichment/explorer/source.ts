import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { readAgentInputs } from '../../db/queries/sources/enrichment-inputs.ts'
import { type StoredTag, storeTags } from '../../db/queries/sources/oli-tags.ts'
import { numberOf, type Reading, type Source } from '../schedule/source.ts'
import type { Upstream } from '../upstream.ts'
import { blockscoutTags } from './blockscout.ts'
import { oliLabels } from './labels.ts'

interface TagsOptions {
  readonly pool: pg.Pool
  readonly upstream: Upstream
  readonly now: () => Date
}

/** Addresses in one request, as many as on Blockscout's own pages. */
const addressesPerAsk = 50

/** Tags of agents' verified addresses, as Blockscout has them. */
export function explorer(options: TagsOptions): Source {
  return tagSource(sources.explorer, 'blockscout', options, blockscoutTags)
}

/** Labels of agents' verified addresses, as anybody attested them with the Open Labels Initiative. */
export function openLabels(options: TagsOptions): Source {
  return tagSource(sources.labels, 'oli', options, oliLabels)
}

function tagSource(
  row: typeof sources.explorer | typeof sources.labels,
  source: 'blockscout' | 'oli',
  { pool, upstream, now }: TagsOptions,
  ask: (upstream: Upstream, addresses: readonly string[]) => Promise<Map<string, StoredTag[]>>,
): Source {
  return {
    ...row,
    host: upstream.host,

    async read(subjects): Promise<Reading> {
      const agents = await readAgentInputs(pool, subjects.map(numberOf))
      const addresses = [...new Set(agents.flatMap((agent) => agent.addresses))]
      const tags = new Map<string, StoredTag[]>()
      for (let index = 0; index < addresses.length; index += addressesPerAsk) {
        const found = await ask(upstream, addresses.slice(index, index + addressesPerAsk))
        for (const [address, list] of found) tags.set(address, list)
      }
      return {
        outcome: [...tags.values()].some((list) => list.length > 0) ? 'ok' : 'empty',
        async write(db) {
          for (const { fid, addresses } of agents) {
            const own = addresses.flatMap((address) => tags.get(address) ?? [])
            await storeTags(db, { fid, source, tags: own, now: now() })
          }
          return row.cadenceMs.all
        },
      }
    },
  }
}
