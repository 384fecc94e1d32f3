import { z } from 'zod'
import type { Address } from './social-index.ts'

/** A user object of the v2 family (hypersnap, Neynar). `verifications` and the custody address beside it are not used. */
export const user = z.object({
  fid: z.int().positive(),
  verified_addresses: z.object({ eth_addresses: z.array(z.string()) }),
})
export type User = z.infer<typeof user>

export const userPage = z.object({ users: z.array(user) })

/** Users by address, as `bulk-by-address` keys them. */
export const usersByAddress = z.record(z.string(), z.array(user))

export function verifiedSetOf({ verified_addresses }: User): Address[] {
  const addresses = verified_addresses.eth_addresses.filter((address) => /^0x[0-9a-fA-F]{40}$/.test(address))
  return [...new Set(addresses.map((address) => address.toLowerCase()))]
}
