import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { type AgentInput, readAgentInputs } from '../../db/queries/sources/enrichment-inputs.ts'
import { storeIdentities } from '../../db/queries/sources/identities.ts'
import { numberOf, type Reading, type Source } from '../schedule/source.ts'
import type { Upstream } from '../upstream.ts'
import { toIdentities } from './identities.ts'
import { type BioProfile, bioProfiles, mostInBatch } from './web3bio.ts'

interface IdentityOptions {
  readonly pool: pg.Pool
  readonly upstream: Upstream
  readonly now: () => Date
}

/** Most addresses of one agent that are asked about; of more, the first ones. */
const mostAddresses = 10

/** The source of identities that agents have elsewhere, found by their accounts and addresses. */
export function identity({ pool, upstream, now }: IdentityOptions): Source {
  return {
    ...sources.identity,
    host: upstream.host,

    async read(subjects): Promise<Reading> {
      const agents = await readAgentInputs(pool, subjects.map(numberOf))
      const asked = [...new Set(agents.flatMap(questionsOf))]
      const profiles: BioProfile[] = []
      for (let index = 0; index < asked.length; index += mostInBatch) {
        profiles.push(...(await bioProfiles(upstream, asked.slice(index, index + mostInBatch))))
      }
      const found = agents.map((agent) => ({ fid: agent.fid, identities: toIdentities(agent, profiles) }))
      return {
        outcome: found.some(({ identities }) => identities.length > 0) ? 'ok' : 'empty',
        async write(db) {
          for (const one of found) await storeIdentities(db, { ...one, now: now() })
          return sources.identity.cadenceMs.all
        },
      }
    },
  }
}

function questionsOf({ fid, addresses }: AgentInput): string[] {
  return [`farcaster,#${fid}`, ...addresses.slice(0, mostAddresses).map((address) => `ethereum,${address}`)]
}
