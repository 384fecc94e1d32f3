import {
  startUpstream,
  type UpstreamAnswer,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamServer,
} from './server.ts'

interface CodehostAccount {
  /** Answer of `/users/{login}`, sent unchanged. */
  readonly user: { readonly id: number; readonly [field: string]: unknown }
  /** Answer of `/users/{login}/repos`, sent unchanged. */
  readonly repositories: readonly object[]
}

/** GitHub's REST API for accounts, by login and by number, and their repositories. */
export interface Codehost extends UpstreamServer {
  /** Accounts by lowercase login. */
  readonly accounts: Map<string, CodehostAccount>
}

const limit = 5_000 // requests an hour
const windowSeconds = 3_600

export async function startCodehost(options: UpstreamOptions = {}): Promise<Codehost> {
  const accounts = new Map<string, CodehostAccount>()
  let used = 0

  function answer({ url }: UpstreamRequest): UpstreamAnswer | undefined {
    const [, users, login = '', rest] = url.pathname.split('/')
    const byId = () => [...accounts.values()].find(({ user }) => String(user.id) === login)
    const account = users === 'users' ? accounts.get(login.toLowerCase()) : users === 'user' ? byId() : undefined
    if (!account || (rest !== undefined && rest !== 'repos')) return undefined
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(1, limit - ++used)),
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + windowSeconds),
      'x-github-media-type': 'github.v3; format=json',
    }
    return { headers, body: rest === 'repos' ? account.repositories : account.user }
  }

  return { ...(await startUpstream(answer, options)), accounts }
}
