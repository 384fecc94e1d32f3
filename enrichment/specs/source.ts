import type pg from 'pg'
import { siteOf } from '../../config/platforms.ts'
import { sources } from '../../config/sources.ts'
import { mostRegistrations, noteSpecCheck, readSpecInputs, storeSpecs } from '../../db/queries/sources/agent-specs.ts'
import { keepProbes } from '../../db/queries/sources/uptime.ts'
import { answering, isReadable } from '../../db/queries/sql/uptime.ts'
import { HostClosed } from '../../hosts/host.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import { type ChainIdentities, registryOf } from '../networks.ts'
import { numberOf, type Reading, type Source } from '../schedule/source.ts'
import { placeOf } from './candidates.ts'
import { isOutOfReach } from './check-status.ts'
import { checkUp } from './check-up.ts'
import { documentsAfter, type KnownDocument, keptOf, standingOf, stands } from './document-standing.ts'
import type { OnChain } from './findings/on-chain.ts'
import { inDollars, withAgent } from './prices.ts'
import type { Check, CheckUp } from './probe.ts'

interface SpecsOptions {
  readonly pool: pg.Pool
  readonly hosts: AgentHosts
  readonly chains: ChainIdentities
  readonly onChain: OnChain
  readonly now: () => Date
}

const { cadenceMs } = sources.specs

/** Source that finds the documents that agents publish on their own hosts, and checks whether they are alive. */
export function specs({ pool, hosts, chains, onChain, now }: SpecsOptions): Source {
  const registries = new Set(Object.values(chains).map(registryOf))
  return {
    ...sources.specs,
    host: hosts.host,

    async read([subject]): Promise<Reading> {
      const fid = numberOf(subject!)
      const inputs = await readSpecInputs(pool, fid)
      if (!inputs) return { outcome: 'gone', write: async () => undefined }
      const known = inputs.known as readonly KnownDocument[] // only this source writes them
      const held = inputs.registrations.slice(0, mostRegistrations).flatMap(({ chain, agentId }) => {
        const identity = chains[chain]
        return identity ? [{ registry: registryOf(identity), agentId }] : []
      })
      const holdings = { held, isCut: inputs.registrations.length > mostRegistrations, registries }
      const look = await withChains(await checkUp(hosts, { ...inputs, holdings, known, turn: now().toISOString() }), {
        onChain,
        known,
        agent: `${fid}`,
      })
      const { checks, closedUntil, wasAsked } = look
      if (checks.length === 0 && closedUntil)
        throw new HostClosed('its hosts asked to wait, or their circuits are open', closedUntil, wasAsked)

      const at = now()
      const all = documentsAfter(known, look, at)
      const documents = keptOf(all, at).map((document) => {
        return { ...document, prices: document.prices.map((price) => withAgent(inDollars(price, chains), chains)) }
      })
      const truncated = {
        ...look.truncated,
        ...(holdings.isCut && { registrations: mostRegistrations + 1 }),
        ...(all.length > documents.length && { documents: all.length }),
      }
      const standing = standingOf(documents, look, at)
      const outOfReach = checks.length > 0 && checks.every(({ status }) => isOutOfReach(status))
      const failed = standing === 'unreachable' || (standing === 'found' && outOfReach)
      return {
        outcome: failed ? 'unreachable' : standing === 'found' ? 'ok' : checks.length === 0 ? 'empty' : standing,
        failed,
        async write(db) {
          await storeSpecs(db, fid, documents)
          await keepProbes(db, fid, probesOf(documents, at), at)
          await noteSpecCheck(db, { fid, status: standing, truncated, now: at })
          if (failed) return 0
          // Not at `closedUntil`, which the host chooses: the agent's other hosts would be asked again as well.
          return closedUntil ? cadenceMs.failing : ttlOf(documents, at)
        },
      }
    },
  }
}

interface Asking {
  readonly onChain: OnChain
  readonly known: readonly KnownDocument[]
  readonly agent: string
}

/** A check-up with what chains say of what is for sale in it, in documents that are as they were too. */
async function withChains(look: CheckUp, { onChain, known, agent }: Asking): Promise<CheckUp> {
  const before = new Map(known.map((document) => [`${document.kind} ${document.url}`, document.prices]))
  const checks: Check[] = []
  // One after the other: each takes from what the agent may have looked at.
  for (const check of look.checks) {
    const isUnchanged = check.status === 'ok' && !check.found && !check.sale
    const offers = check.sale?.prices ?? (isUnchanged ? before.get(placeOf(check.candidate)) : undefined) ?? []
    const { url } = check.candidate
    const { findings, blocks } = await onChain(offers, { agent, site: siteOf(url) ?? url.host })
    checks.push({ ...check, findings: [...(check.findings ?? []), ...findings], blocks })
  }
  return { ...look, checks }
}

/** Results of one check-up for the documents that were requested. */
function probesOf(documents: readonly KnownDocument[], now: Date) {
  return documents
    .filter(({ lastCheckAt }) => lastCheckAt === now)
    .map(
      ({
        kind,
        url,
        lastCheckStatus: status,
        httpStatus,
        latencyMs,
        answers,
        consecutiveFailures,
        findings,
        chainBlocks,
      }) => {
        const answer = answers?.code ?? null
        const alive = answer === null ? isReadable(consecutiveFailures) : answering.includes(answer)
        return { kind, url, alive, status, httpStatus, latencyMs, answer, findings, chainBlocks }
      },
    )
}

function ttlOf(documents: readonly KnownDocument[], now: Date): number {
  const standing = documents.filter((document) => stands(document, now))
  if (standing.length === 0) return cadenceMs.nothing
  // A page that stays away is asked as seldom: each look asks for every usual place as well.
  if (standing.every(({ kind }) => kind === 'web')) return cadenceMs.pages
  return standing.every(({ consecutiveFailures }) => isReadable(consecutiveFailures))
    ? cadenceMs.well
    : cadenceMs.failing
}
