import { setTimeout as delay } from 'node:timers/promises'
import { second } from '../../../ops/time.ts'
import type { ManifestLook, ManifestStanding } from '../../claim/manifest-look.ts'
import { type Html, html } from '../../http/html.ts'
import type { Profile } from '../parts/answers.ts'
import { hostOf } from '../parts/links.ts'

/** A host that a registration names, and how the file on it would do for a claim; undefined: it was not looked at. */
export interface NamedHost {
  readonly host: string
  readonly manifest: ManifestStanding | undefined
}

/** Hosts shown of one agent, and those whose files are looked at. */
const mostShown = 10
const mostLooked = 3
/** A page waits no longer; what a look finds later is on the next one. */
const longestLookMs = 2 * second

/** Hosts named by registrations that the holder acted on. */
export function hostsOf(
  agent: Profile | undefined,
  fid: number,
  client: string,
  lookAtManifest: ManifestLook | undefined,
): Promise<NamedHost[]> {
  const own = (agent?.erc8004_records ?? []).filter(({ unsolicited }) => !unsolicited)
  const named = own.flatMap(({ agent_uri: uri, services }) => [uri, ...services.map(({ endpoint }) => endpoint)])
  const hosts = named.flatMap((address) => (address && /^https?:\/\//i.test(address) ? [hostOf(address)] : []))
  return Promise.all(
    [...new Set(hosts)].slice(0, mostShown).map(async (host, place) => {
      const isLooked = place < mostLooked && lookAtManifest !== undefined
      const late: ManifestStanding = { state: 'unknown' }
      const manifest = isLooked
        ? await Promise.race([lookAtManifest(fid, host, client), delay(longestLookMs, late, { ref: false })])
        : undefined
      return { host, manifest }
    }),
  )
}

/** What the file of a host is good for, in a line. */
export function hostLine({ host, manifest }: NamedHost): Html {
  return html`<li><bdi>${host}</bdi> <span class="sub">linked by a registration${manifest && ['; ', words[manifest.state], manifest.why && `: ${manifest.why}`]}</span></li>`
}

const words: Record<ManifestStanding['state'], string> = {
  ready: 'its file is there and holds: this works now',
  missing: 'no file can be read there yet',
  refused: 'its file is there and does not do',
  unknown: 'whether its file is there could not be seen just now',
}
