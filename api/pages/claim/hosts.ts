import { setTimeout as delay } from 'node:timers/promises'
import { second } from '../../../ops/time.ts'
import type { ManifestLook, ManifestStanding } from '../../claim/manifest-preview.ts'
import type { Profile } from '../parts/exact-json.ts'
import { type Html, html } from '../parts/html.ts'
import { hostOf } from '../parts/links.ts'

/** A host that may carry a well-known claim. `manifest`: would its file be accepted; undefined: not looked at. */
export interface NamedHost {
  readonly host: string
  readonly namedBy: 'profile' | 'registration'
  readonly manifest: ManifestStanding | undefined
}

/** Most hosts shown for one agent, and most hosts whose files are fetched. */
const mostShown = 10
const mostLooked = 3
/** How long a page waits for a manifest, milliseconds; a later result shows on the next view. */
const longestLookMs = 2 * second

interface Claimed {
  readonly fid: number
  /** Profile of the account; undefined: it is not listed. */
  readonly agent: Profile | undefined
  /** URL in the account's profile; null: it has none. */
  readonly accountUrl: string | null
}

/** Hosts named by the account's profile, and by registrations that the holder acted on. */
export function hostsOf(
  { fid, agent, accountUrl }: Claimed,
  client: string,
  lookAtManifest: ManifestLook | undefined,
): Promise<NamedHost[]> {
  const own = (agent?.erc8004_records ?? []).filter(({ unsolicited }) => !unsolicited)
  const registered = own.flatMap(({ agent_uri: uri, services }) => [uri, ...services.map(({ endpoint }) => endpoint)])
  const [ofProfile] = webHosts([accountUrl])
  const hosts = new Set([...(ofProfile === undefined ? [] : [ofProfile]), ...webHosts(registered)])
  return Promise.all(
    [...hosts].slice(0, mostShown).map(async (host, place) => {
      const isLooked = place < mostLooked && lookAtManifest !== undefined
      const late: ManifestStanding = { state: 'unknown' }
      const manifest = isLooked
        ? await Promise.race([lookAtManifest(fid, host, client), delay(longestLookMs, late, { ref: false })])
        : undefined
      return { host, namedBy: host === ofProfile ? ('profile' as const) : ('registration' as const), manifest }
    }),
  )
}

const webHosts = (addresses: readonly (string | null)[]) =>
  addresses.flatMap((address) => (address && /^https?:\/\//i.test(address) ? [hostOf(address)] : []))

/** One line on a host: who named it, and whether its file would be accepted. */
export function hostLine({ host, namedBy, manifest }: NamedHost): Html {
  const link = namedBy === 'profile' ? 'linked by the account’s profile' : 'linked by a registration'
  return html`<li><bdi>${host}</bdi> <span class="sub">${link}${manifest && ['; ', words[manifest.state], manifest.why && `: ${manifest.why}`]}</span></li>`
}

const words: Record<ManifestStanding['state'], string> = {
  ready: 'its file is there and holds: this works now',
  missing: 'no file can be read there yet',
  refused: 'its file is there and does not do',
  unknown: 'whether its file is there could not be seen just now',
}
