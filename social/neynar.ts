import { createSocialHttp, type IsNothing, type SocialHttpOptions } from './http.ts'
import { type Address, type SocialIndex, userPage, usersByAddress, verifiedSetOf } from './social-index.ts'

interface NeynarOptions extends SocialHttpOptions {
  readonly apiKey: string
}

/**
 * Neynar's REST API for what only it answers, addresses to FIDs in bulk, over a hub for everything else: Neynar does
 * not tell when an address was verified, so a hub has to confirm what it finds.
 *
 * `slot` and `url` are Neynar's; the hub has its own.
 */
export function createNeynar(hub: SocialIndex, { apiKey, ...options }: NeynarOptions): SocialIndex {
  const http = createSocialHttp({ ...options, headers: { 'x-api-key': apiKey } })
  return {
    ...hub,

    async verifiedSets(fids) {
      const answer = await http.get('/v2/farcaster/user/bulk', { fids: fids.join(',') }, userPage, saysNotFound)
      return new Map((answer?.users ?? []).map((user) => [user.fid, verifiedSetOf(user)]))
    },

    async fidsByAddress(addresses) {
      const query = { addresses: addresses.join(','), address_types: 'verified_address' }
      const answer = await http.get('/v2/farcaster/user/bulk-by-address', query, usersByAddress, saysNotFound)
      const found = new Map<Address, number[]>()
      for (const [key, users] of Object.entries(answer ?? {})) {
        const address = key.toLowerCase()
        // Custody addresses have been answered here too: only what the user object itself lists as verified counts.
        const fids = users.filter((user) => verifiedSetOf(user).includes(address)).map(({ fid }) => fid)
        if (addresses.includes(address) && fids.length > 0) found.set(address, fids)
      }
      return found
    },

    async close() {
      await Promise.all([http.close(), hub.close()])
    },
  }
}

/** `{"code":"NotFound","message":"No users found",…}` with status 404. */
const saysNotFound: IsNothing = (status, body) => status === 404 && /"NotFound"|no users? found/i.test(body)
