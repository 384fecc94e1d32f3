import type { Queryable } from '../../db/pool.ts'
import type { StandingClaim } from '../../db/queries/join/claim-checks.ts'
import { liveAddresses } from '../../db/queries/join/verified-addresses.ts'
import type { Door } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import { DoorError, type DoorReason } from '../../net/errors.ts'
import { day, second } from '../../ops/time.ts'
import type { Json } from '../../trust/canonical-json.ts'
import type { Finding, Patience } from './finding.ts'

/** Looks at the manifests that claims were made with. */
export interface Manifests {
  check(fid: number, claim: Pick<StandingClaim, 'signer'>): Promise<Finding>
}

interface ManifestsOptions {
  readonly door: Pick<Door, 'fetchJson'>
  readonly database: Queryable
  readonly egressAllow: EgressAllow
  readonly serviceName: string
}

const limits = { maxBytes: 64 * 1024, timeoutMs: 10 * second }
const silence: Patience = { looks: 3, overMs: 3 * day, apartMs: day }
/** Answers that are none of a host that still says so; all others are outages. */
const otherAnswers: readonly DoorReason[] = ['not_json', 'too_large', 'encoded', 'redirect_refused']
const gone: readonly number[] = [404, 410]

export function createManifests({ door, database, egressAllow, serviceName }: ManifestsOptions): Manifests {
  /** What the host publishes; undefined: nothing of the kind. Throws when it does not answer. */
  async function read(host: string): Promise<Record<string, unknown> | undefined> {
    // Plain http is for hosts the operator named, which are his own and have no certificates.
    const scheme = egressAllow.has(host) && !host.endsWith(':443') ? 'http' : 'https'
    try {
      const { status, json } = await door.fetchJson(`${scheme}://${host}/.well-known/${serviceName}.json`, limits)
      if (gone.includes(status)) return undefined
      if (status !== 200) throw new Error(`${host} answered with status ${status}`)
      return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
    } catch (error) {
      if (error instanceof DoorError && otherAnswers.includes(error.reason)) return undefined
      throw error
    }
  }

  return {
    async check(fid, { signer: host }) {
      const doubted = (detail: Json): Finding => ({
        kind: 'doubted',
        reason: 'manifest_gone',
        detail,
        patience: silence,
      })
      const refuted = (detail: Json): Finding => ({ kind: 'refuted', reason: 'manifest_gone', detail })
      const manifest = await read(host)
      const isOurs = manifest?.service === serviceName && String(manifest.host).toLowerCase() === host
      if (!isOurs) return doubted({ host, problem: 'no manifest for this service' })
      if (manifest.withdrawn === true) return refuted({ host, withdrawn: true })
      if (Number.isSafeInteger(manifest.fid) && manifest.fid !== fid)
        return refuted({ host, fid: manifest.fid as number })
      if (!Array.isArray(manifest.addresses)) return doubted({ host, problem: 'no addresses' })
      const live = (await liveAddresses(database, [fid])).get(fid) ?? []
      const unverified = manifest.addresses.map((one) => String(one).toLowerCase()).filter((one) => !live.includes(one))
      if (unverified.length > 0) return doubted({ host, problem: 'addresses that are not verified' })
      return { kind: 'holds' }
    },
  }
}
