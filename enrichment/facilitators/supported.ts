import { z } from 'zod'

/** Most accounts that one answer may name, else it is rejected; a facilitator has some dozens. */
const mostSigners = 500

/**
 * The part of `GET /supported` that names accounts, by namespace or chain of CAIP-2: `eip155:*`, `eip155:8453`. Version 1
 * has kinds of payment alone; an object with neither is another answer, such as an error sent with status 200. Source:
 * x402-specification-v2.md, section 7.3.
 */
const supported = z
  .object({
    kinds: z.array(z.unknown()).optional(),
    signers: z.record(z.string(), z.array(z.string())).optional(),
  })
  .refine(({ kinds, signers }) => kinds !== undefined || signers !== undefined)

/** Accounts of EVM chains that an answer names, lowercase and each once; undefined: it is not such an answer. */
export function signersOf(answer: unknown): string[] | undefined {
  const { data } = supported.safeParse(answer)
  if (!data) return undefined
  const named = Object.entries(data.signers ?? {}).flatMap(([chain, addresses]) =>
    /^eip155:(\*|\d{1,20})$/.test(chain) ? addresses : [],
  )
  const addresses = new Set(named.flatMap((text) => (isAccount(text) ? text.toLowerCase() : [])))
  return addresses.size > mostSigners ? undefined : [...addresses].sort()
}

const isAccount = (text: string) => /^0x[0-9a-f]{40}$/i.test(text) && !/^0x0{40}$/.test(text)
