import type pg from 'pg'
import { noteSpecCheck, readSpecInputs, storeSpecs } from '../../db/queries/sources/agent-specs.ts'
import { HostClosed } from '../../hosts/host.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import { day, hour, minute, numberOf, type Reading, type Source, sourceNames } from '../schedule/source.ts'
import { checkUp } from './check.ts'
import { documentsAfter, type KnownDocument, standingOf, stands } from './document.ts'
import { type ChainIdentities, registryOf } from './domain-proof.ts'
import { isOutOfReach } from './probe.ts'

export interface SpecsOptions {
  readonly pool: pg.Pool
  readonly hosts: AgentHosts
  readonly chains: ChainIdentities
  readonly now: () => Date
}

/** Until the next look: all is well, something known fails, there is nothing to be found. */
const ttlMs = { well: 6 * hour, failing: hour, nothing: 7 * day }

/** Looks for the documents that agents publish on their own hosts, and whether they are alive. */
export function specs({ pool, hosts, chains, now }: SpecsOptions): Source {
  return {
    name: sourceNames.specs,
    host: hosts.host,
    batch: 10,
    perRead: 1,
    leaseMs: 5 * minute,
    retry: { baseMs: hour, capMs: 7 * day },

    async read([subject]): Promise<Reading> {
      const fid = numberOf(subject!)
      const inputs = await readSpecInputs(pool, fid)
      if (!inputs) return { outcome: 'gone', write: async () => undefined }
      const known = inputs.known as readonly KnownDocument[] // only this source writes them
      const tokens = inputs.tokens.map(({ chain, agentId }) => ({ registry: registryOf(chains[chain]), agentId }))
      const look = await checkUp(hosts, { ...inputs, tokens, known })
      const { checks, closedUntil } = look
      if (checks.length === 0 && closedUntil) throw new HostClosed('its hosts are left alone', closedUntil)

      const at = now()
      const documents = documentsAfter(known, look, at)
      const standing = standingOf(documents, look, at)
      const outOfReach = checks.length > 0 && checks.every(({ status }) => isOutOfReach(status))
      const failed = standing === 'unreachable' || (standing === 'found' && outOfReach)
      return {
        outcome: failed ? 'unreachable' : standing === 'found' ? 'ok' : checks.length === 0 ? 'empty' : standing,
        failed,
        async write(db) {
          await storeSpecs(db, fid, documents)
          await noteSpecCheck(db, { fid, status: standing, now: at })
          if (failed) return 0
          return Math.min(ttlOf(documents, at), closedUntil ? closedUntil.getTime() - at.getTime() : ttlMs.nothing)
        },
      }
    },
  }
}

function ttlOf(documents: readonly KnownDocument[], now: Date): number {
  const standing = documents.filter((document) => stands(document, now))
  if (standing.length === 0) return ttlMs.nothing
  return standing.every(({ consecutiveFailures }) => consecutiveFailures === 0) ? ttlMs.well : ttlMs.failing
}
