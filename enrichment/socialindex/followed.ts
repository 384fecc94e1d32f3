import type { Host, Urgency } from '../../hosts/host.ts'
import type { SocialIndex } from '../../social/social-index.ts'

/** A hub of HUB_URL: its clients by urgency, and its limits. */
export interface Candidate {
  readonly url: string
  readonly host: Host
  readonly clients: Readonly<Record<Urgency, SocialIndex>>
}

/** The one of several hubs that is followed now, behind one client a degree of urgency and one host. */
export interface Followed {
  readonly candidates: readonly Candidate[]
  readonly clients: Candidate['clients']
  readonly host: Host
  url(): string
  /** Follows the hub at this URL from now on; one that is not a candidate: the first. */
  point(url: string | undefined): void
}

export function createFollowed(candidates: readonly [Candidate, ...Candidate[]]): Followed {
  let current = candidates[0]
  const host = () => current.host
  return {
    candidates,
    clients: {
      urgent: following(() => current.clients.urgent),
      usual: following(() => current.clients.usual),
      spare: following(() => current.clients.spare),
    },
    host: {
      name: candidates[0].host.name,
      requestsPerSecond: candidates[0].host.requestsPerSecond,
      get sent() {
        return host().sent
      },
      capacity: () => host().capacity(),
      slot: (urgency) => host().slot(urgency),
      checkOpen: () => host().checkOpen(),
      restFor: (ms) => host().restFor(ms),
      succeeded: () => host().succeeded(),
      failed: () => host().failed(),
      state: () => host().state(),
      stop: () => {
        for (const one of candidates) one.host.stop()
      },
    },
    url: () => current.url,
    point(url) {
      current = candidates.find((one) => one.url === url) ?? candidates[0]
    },
  }
}

function following(hub: () => SocialIndex): SocialIndex {
  return {
    network: () => hub().network(),
    fids: (...given) => hub().fids(...given),
    events: (...given) => hub().events(...given),
    verifications: (fid) => hub().verifications(fid),
    everyVerification: (fid) => hub().everyVerification(fid),
    profile: (fid) => hub().profile(fid),
    nameHolder: (...given) => hub().nameHolder(...given),
    statements: (fid) => hub().statements(fid),
    follows: (fid) => hub().follows(fid),
    verifiedSets: (fids) => hub().verifiedSets(fids),
    close: async () => {}, // the candidates' own
  }
}
