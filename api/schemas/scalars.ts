import { z } from 'zod'
import { chainNames, chainOf } from '../../config/chains.ts'

/** ISO 8601, UTC, milliseconds. */
export const time = z.iso
  .datetime({ precision: 3 })
  .meta({ id: 'Time', description: 'ISO 8601, UTC, with milliseconds.', examples: ['2026-02-03T11:08:33.000Z'] })

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ id: 'Address', description: '20 bytes, lowercase hex.' })

export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: 'Hash', description: '32 bytes, lowercase hex.' })

export const fid = z
  .int()
  .positive()
  .meta({ id: 'Fid', description: 'Id of an account of the Farcaster network, and of the agent behind it.' })

/** Ids of registrations are 256 bits wide on chain; JSON numbers carry them whole, JavaScript rounds large ones. */
export const tokenId = z
  .number()
  .nonnegative()
  .meta({
    id: 'TokenId',
    description: 'Number of an ERC-8004 registration on its chain, as large as its registry likes; 0 is a real one.',
    override: { type: 'integer', minimum: 0 },
  })

export const count = z.int().nonnegative()

/** Mark of what the address of a contract wallet has on another chain than its verification names. */
export const otherWalletChain = z.literal('other').nullable()

/** Of a handle, wherever the contract has a place for it. */
export const handleAssurance = z
  .enum(['proven', 'signed', 'stated'])
  .nullable()
  .meta({
    description:
      'Who says that the handle is the account’s. proven: the name server, for the address with custody of the account; ' +
      'signed: the name server, for an address that the account verifies, or another hub; stated: one hub alone. ' +
      'Null: it has none.',
  })

/** Values of `last_check_status`: docs/rules.md 3. */
export const checkStatus = z
  .enum([
    'ok',
    'auth_required',
    'payment_required',
    'not_found',
    'http_4xx',
    'http_5xx',
    'timeout',
    'dns_error',
    'tls_error',
    'connect_error',
    'blocked',
    'too_large',
    'not_json',
    'schema_mismatch',
    'redirect_refused',
  ])
  .meta({ id: 'CheckStatus', description: 'How the last check of a document ended; ok: a document of its kind.' })

/** Dollars with the decimals of their token. */
export const dollars = z
  .number()
  .nonnegative()
  .meta({ description: 'Dollars; exact, six decimals, or more of a token that has more.' })
/** Dollars from which refunds are taken. */
export const netDollars = z.number().meta({
  description:
    'Dollars; exact, six decimals, or more of a token that has more. Below zero: more went back to payers than came.',
})

/** A value of the chain table, looked up at each use: CHAINS_FILE may add chains after the schemas are made. */
function ofChains<T extends string | number>(schema: z.ZodType<T>, values: () => T[]) {
  const type = schema instanceof z.ZodString ? 'string' : 'number'
  const override = ({ jsonSchema }: { jsonSchema: { description?: string } }) => {
    const { description } = jsonSchema
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as never]
    Object.assign(jsonSchema, { type, enum: values(), description })
  }
  const checked = schema.refine((value) => values().includes(value), {
    error: () => `must be of ${values().join(', ')}`,
  })
  return (meta: { id?: string; description: string }) => checked.meta({ ...meta, override })
}

export const chainName = ofChains(z.string(), () => [...chainNames])({
  id: 'ChainName',
  description: 'Name of a chain, as rows have it: base.',
})

export const chainId = ofChains(z.number(), () => chainNames.map((name) => chainOf(name).id))({
  description: 'EIP-155 chain id.',
})

export const chainLabel = ofChains(z.string(), () => chainNames.map((name) => chainOf(name).label))({
  id: 'ChainLabel',
  description: 'Label of a chain, as filters and profiles have it: Base.',
})

export const claimMethod = z.enum(['eip191', 'jfs', 'well-known']).meta({
  id: 'ClaimMethod',
  description:
    'How a claim is proven. eip191: a signature of a verified address; jfs: a JSON Farcaster Signature of an app key; ' +
    'well-known: a file on a host that the account or a registration names.',
})

export const agentStatus = z.enum(['active', 'historical', 'claimed-only']).meta({
  id: 'AgentStatus',
  description:
    'active: a verified address holds a registration now; historical: one did once; claimed-only: claimed, and none ever did.',
})

export const availableSince = time.optional().meta({
  description:
    'Since when all rows are listed: older ones were archived, and are in the files under /exports. Absent: none was.',
})

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'For the parameter `cursor` of the next page; null: this is the last.' })
