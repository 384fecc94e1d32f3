import { z } from 'zod'
import type { Address } from './social-index.ts'

/** A user object of the v2 family (hypersnap, Neynar). `verifications` and the custody address beside it are not used. */
const user = z.object({
  fid: z.int().positive(),
  verified_addresses: z.object({ eth_addresses: z.array(z.string()) }),
})
type User = z.infer<typeof user>

/** User objects; one that does not parse is left out, so that it does not hide the others. */
const users = z.array(z.unknown()).transform((given) => given.flatMap((one) => user.safeParse(one).data ?? []))

export const userPage = z.object({ users })

/** Users by address, as `bulk-by-address` keys them. */
export const usersByAddress = z.record(z.string(), users)

export function verifiedSetOf({ verified_addresses }: User): Address[] {
  const addresses = verified_addresses.eth_addresses.filter((address) => /^0x[0-9a-fA-F]{40}$/.test(address))
  return [...new Set(addresses.map((address) => address.toLowerCase()))]
}
