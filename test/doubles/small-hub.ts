import type { HubEvent } from '../../devnet/hub/events.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'

/** The parts of a hub's answers that tests look into. */
interface Body {
  readonly fids: number[]
  readonly nextPageToken?: string
  readonly events: HubEvent[]
  readonly messages: { data: Record<string, { address: string; protocol?: string }> }[]
  readonly users: { username: string }[]
  readonly is_auth: boolean
  readonly post_one_of: object[]
  readonly [key: string]: unknown
}

export const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const solana = '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc'

/** A hub with accounts 1 to 5, asked over HTTP; account 3 has something of everything. */
export interface SmallHub extends Hub {
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; body: Body }>
  /** Ethereum addresses the hub says a FID verifies. */
  verifiedBy(fid: number): Promise<(string | undefined)[]>
  /** Events of a FID's shard since an id. */
  newEvents(fid: number, from?: number): Promise<HubEvent[]>
}

export async function startSmallHub(): Promise<SmallHub> {
  const state = new HubState()
  for (let fid = 1; fid <= 5; fid++) {
    state.addAccount({ fid, custody: wallet(100 + fid), authAddresses: fid === 3 ? [wallet(200)] : [] })
  }
  const first = state.cast(1, 'gm')
  state.setProfile(3, { username: 'ada', displayName: 'Ada', bio: 'counts', pfp: 'https://a.example/a.png' })
  state.setProfile(3, { banner: 'https://a.example/b.png', twitter: 'ada' })
  state.addVerification(3, wallet(31), { oldBody: true, at: new Date(Date.now() - 60_000) })
  state.addVerification(3, solana, { protocol: 'solana' })
  state.cast(3, 'hello', { parent: first })
  state.follow(3, 1)
  const hub = await startHub(state)

  const get: SmallHub['get'] = async (path, headers = {}) => {
    const response = await fetch(hub.url + path, { headers })
    return { status: response.status, body: (await response.json()) as Body }
  }
  return {
    ...hub,
    get,
    async verifiedBy(fid) {
      const { body } = await get(`/v1/verificationsByFid?fid=${fid}`)
      return body.messages
        .map(({ data }) => data.verificationAddAddressBody ?? data.verificationAddEthAddressBody)
        .filter((given) => given?.protocol !== 'PROTOCOL_SOLANA')
        .map((given) => given?.address)
    },
    async newEvents(fid, from = 0) {
      const { body } = await get(`/v1/events?shard_index=${(fid % 2) + 1}&from_event_id=${from}`)
      return body.events
    },
  }
}
