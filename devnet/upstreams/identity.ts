import {
  startUpstream,
  type UpstreamAnswer,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamServer,
} from './server.ts'

/** web3.bio: profiles of identities such as `ethereum,0x…` and `farcaster,#3`. */
export interface IdentityService extends UpstreamServer {
  /** Answers by identity, sent unchanged. */
  readonly profiles: Map<string, unknown>
}

const mostInBatch = 30
const batchPath = '/profile/batch/'

export async function startIdentityService(options: UpstreamOptions = {}): Promise<IdentityService> {
  const profiles = new Map<string, unknown>()

  function answer({ url }: UpstreamRequest): UpstreamAnswer | undefined {
    if (!url.pathname.startsWith(batchPath)) return undefined
    const asked = JSON.parse(decodeURIComponent(url.pathname.slice(batchPath.length))) as string[]
    if (asked.length > mostInBatch) return { status: 400, body: { error: 'Too many identities' } }
    const found = asked.flatMap((identity) => profiles.get(identity.toLowerCase()) ?? [])
    return { body: [...new Set(found)] }
  }

  return { ...(await startUpstream(answer, options)), profiles }
}
