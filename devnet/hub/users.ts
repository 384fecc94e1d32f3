import { type Account, userDataOf, verifiedAddresses } from './account.ts'
import type { Answer } from './faults.ts'
import type { HubState } from './state.ts'

const mostFids = 100
const mostAddresses = 350
/** Client that holds the app keys in the objects of auth addresses. */
const clientFid = 9152

/**
 * GET /v2/farcaster/user/bulk?fids= of hypersnap (no key) and Neynar (key). A FID nobody registered: hypersnap answers
 * a user called `fid:<n>` without custody, Neynar leaves it out.
 */
export function usersByFid(state: HubState, query: URLSearchParams, hasKey: boolean): Answer {
  const fids = listOf(query, 'fids').map(Number)
  if (fids.length === 0 || fids.length > mostFids || !fids.every(Number.isSafeInteger)) {
    return { status: 400, body: { message: `fids must be 1 to ${mostFids} numbers` } }
  }
  const users = fids.flatMap<object>((fid) => {
    const account = state.accounts.get(fid)
    if (account) return [userOf(state, account)]
    return hasKey ? [] : [unknownUser(fid)]
  })
  return { status: 200, body: { users } }
}

/** GET /v2/farcaster/user/bulk-by-address of Neynar: users by lowercase address; an address nobody has is absent. */
export function usersByAddress(state: HubState, query: URLSearchParams): Answer {
  const addresses = listOf(query, 'addresses').map((address) => address.toLowerCase())
  if (addresses.length === 0 || addresses.length > mostAddresses) {
    return neynarError(400, 'InvalidField', `addresses must be 1 to ${mostAddresses}`, 'addresses')
  }
  const types = listOf(query, 'address_types')
  const counts = (type: string) => types.length === 0 || types.includes(type)
  const found: Record<string, unknown[]> = {}
  for (const address of new Set(addresses)) {
    const users = [...state.accounts.values()].filter(
      (account) =>
        (counts('verified_address') && verifiedAddresses(account, 'ethereum').includes(address)) ||
        (counts('custody_address') && account.custody === address),
    )
    if (users.length > 0) found[address] = users.map((account) => userOf(state, account))
  }
  if (Object.keys(found).length === 0) return neynarError(404, 'NotFound', 'No users found', 'addresses')
  return { status: 200, body: found }
}

export function neynarError(status: number, code: string, message: string, property: string): Answer {
  return { status, body: { code, message, property, status } }
}

function userOf(state: HubState, account: Account) {
  const ethereum = verifiedAddresses(account, 'ethereum')
  const solana = verifiedAddresses(account, 'solana')
  const banner = userDataOf(account, 'USER_DATA_TYPE_BANNER')
  const twitter = userDataOf(account, 'USER_DATA_TYPE_TWITTER')
  return {
    object: 'user',
    fid: account.fid,
    username: userDataOf(account, 'USER_DATA_TYPE_USERNAME') ?? `!${account.fid}`,
    display_name: userDataOf(account, 'USER_DATA_TYPE_DISPLAY') ?? '',
    pfp_url: userDataOf(account, 'USER_DATA_TYPE_PFP') ?? '',
    custody_address: account.custody,
    registered_at: new Date(account.registeredAtMs).toISOString(),
    pro: { status: 'unsubscribed', subscribed_at: null, expires_at: null },
    profile: {
      bio: { text: userDataOf(account, 'USER_DATA_TYPE_BIO') ?? '' },
      ...(banner ? { banner: { url: banner } } : {}),
    },
    follower_count: state.followersOf(account.fid),
    following_count: account.links.size,
    verifications: ethereum,
    verified_addresses: {
      eth_addresses: ethereum,
      sol_addresses: solana,
      primary: { eth_address: ethereum[0] ?? null, sol_address: solana[0] ?? null },
    },
    auth_addresses: account.authAddresses.map((address) => ({
      address,
      app: { object: 'user_dehydrated', fid: clientFid },
    })),
    verified_accounts: twitter ? [{ platform: 'x', username: twitter }] : [],
    power_badge: false,
    experimental: { neynar_user_score: 0.5, deprecation_notice: 'use score' },
    score: 0.5,
  }
}

function unknownUser(fid: number) {
  return {
    object: 'user',
    fid,
    username: `fid:${fid}`,
    display_name: '',
    pfp_url: '',
    custody_address: '',
    profile: { bio: { text: '' } },
    follower_count: 0,
    following_count: 0,
    verifications: [],
    verified_addresses: { eth_addresses: [], sol_addresses: [], primary: { eth_address: null, sol_address: null } },
    auth_addresses: [],
    verified_accounts: [],
  }
}

function listOf(query: URLSearchParams, name: string): string[] {
  return (query.get(name) ?? '').split(',').filter((part) => part !== '')
}
