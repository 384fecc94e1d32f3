import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { noteChecked, standingClaims, storeCheckEvent } from '../../db/queries/claims/claim-checks.ts'
import { lockClaims } from '../../db/queries/claims/claims.ts'
import type { Host } from '../../hosts/host.ts'
import { numberOf, type Source } from '../schedule/source.ts'
import { type CheckWorld, checkClaim } from './checks.ts'
import { eventOf, type Finding } from './ending.ts'

interface ClaimChecksOptions {
  readonly pool: pg.Pool
  readonly world: CheckWorld
  readonly host: Host
  readonly now: () => Date
}

const { cadenceMs } = sources.claims
/** Factor on the time between checks, so that despite the scheduler's jitter they are far enough apart to count. */
const marginOfLooks = 1.2

/** Source that checks whether the evidence of an account's standing claims still holds. */
export function claimChecks({ pool, world, host, now }: ClaimChecksOptions): Source {
  return {
    ...sources.claims,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const found: { claim: Awaited<ReturnType<typeof standingClaims>>[number]; finding: Finding }[] = []
      for (const claim of await standingClaims(pool, fid)) {
        found.push({ claim, finding: await checkClaim(fid, claim, world) })
      }
      const unknown = found.flatMap(({ finding }) => (finding.kind === 'unknown' ? [finding.error] : []))
      if (unknown.length > 0 && unknown.length === found.length) throw unknown[0]
      return {
        outcome: found.length === 0 ? 'empty' : unknown.length > 0 ? 'partly' : 'ok',
        async write(db) {
          await lockClaims(db, fid)
          const at = now()
          for (const { claim, finding } of found) {
            const event = eventOf(claim, finding, at)
            if (event) await storeCheckEvent(db, { fid, ...claim, ...event, at })
          }
          const held = found.filter(({ finding }) => finding.kind === 'holds').map(({ claim }) => claim)
          await noteChecked(db, fid, held, at)
          return found.length === 0 ? undefined : Math.min(...found.map(({ finding }) => nextLookMs(finding)))
        },
      }
    },
  }
}

function nextLookMs(finding: Finding): number {
  if (finding.kind === 'unknown') return cadenceMs.unknown
  if (finding.kind !== 'doubted') return cadenceMs.all
  if (finding.grace) return finding.grace.apartMs * marginOfLooks
  const isToldOf = finding.reason === 'verification_removed' || finding.reason === 'disputed'
  return isToldOf ? cadenceMs.all : cadenceMs.pending
}
