import { z } from 'zod'
import { contractKinds } from './payments.ts'
import { httpUrl, nodeUrl } from './settings.schema.ts'

// Schemas of the entries of CHAINS_FILE.

/** Error for a value that is not an object; for an unknown field zod's own message, which names it, is better. */
const wanted = (fields: string) => (issue: { code?: string }) =>
  issue.code === 'invalid_type' ? `must be an object of ${fields}` : undefined

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .toLowerCase()
const block = z.int({ error: 'must be a block number' }).nonnegative().max(2_147_483_647)
const contract = z.strictObject({ address, fromBlock: block }, { error: wanted('address and fromBlock') })
const deployment = z.strictObject({ address })

/** Most calls in one request to a node, where an entry sets no fewer. */
export const mostBatchCalls = 100

/** Most decimals of a dollar token: an amount of base units has to fit numeric(38). */
const mostDecimals = 18
const mostDecimalsText = `must be a whole number from 0 to ${mostDecimals}`
const millions = z.int().nonnegative().multipleOf(1_000_000, 'must be a multiple of 1000000')

/** Entry of CHAINS_FILE for a chain that is in the table: a field that is given replaces the row's. */
export const override = z.strictObject({
  enabled: z.boolean().optional(),
  rpc: nodeUrl.nullable().optional(),
  portal: httpUrl.nullable().optional(),
  dataset: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be a dataset name of lowercase letters, digits and hyphens')
    .optional(),
  gateway: httpUrl.nullable().optional(),
  finality: z.int({ error: 'must be a number of blocks' }).min(0).max(100_000).optional(),
  batch: z.int({ error: 'must be a number of calls' }).min(1).max(mostBatchCalls).optional(),
  bloom: z.boolean({ error: 'must be false when the logs blooms of the chain are wrong, else true' }).optional(),
  registry: contract.optional(),
  reputation: contract.optional(),
  tokens: z
    .array(
      contract.extend({
        decimals: z.int({ error: mostDecimalsText }).min(0, mostDecimalsText).max(mostDecimals, mostDecimalsText),
        symbol: z
          .string()
          .regex(/^[A-Za-z0-9.]{1,12}$/, 'must be 1 to 12 letters, digits and dots')
          .optional(),
        domainName: z.literal('USDC', { error: 'must be USDC, or left out' }).optional(),
      }),
    )
    .max(16)
    .optional(),
  paymentContracts: z
    .array(
      z.strictObject(
        {
          kind: z.enum(contractKinds, { error: `must be one of ${contractKinds.join(', ')}` }),
          ...contract.shape,
          collectors: z.array(contract.shape.address).max(16).optional(),
        },
        { error: wanted('kind, address and fromBlock, and collectors or not') },
      ),
    )
    .max(16)
    .optional(),
  partitions: z
    .strictObject({ blocks: millions.positive(), oneBelow: millions }, { error: wanted('blocks and oneBelow') })
    .nullish(), // null, too, is the default
  keyRegistry: deployment.optional(),
  idRegistry: deployment.extend({ fromBlock: block.optional() }).optional(),
})

/** Address of an explorer page with its placeholders. Kept as text: normalizing the URL would escape the braces. */
const page = (...places: string[]) =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
    .refine((text) => places.every((place) => text.includes(`{${place}}`)), {
      error: `must contain ${places.map((place) => `{${place}}`).join(' and ')}`,
    })

/** Entry of CHAINS_FILE for a chain that is not in the table: a whole row; fields without default here are required. */
export const addition = override.extend({
  id: z.int({ error: 'must be the EIP-155 chain id' }).positive().max(2_147_483_647),
  label: z
    .string({ error: 'must be 1 to 20 letters, digits, blanks, dots and hyphens' })
    .regex(/^[A-Za-z0-9][A-Za-z0-9 .-]{0,19}$/, 'must be 1 to 20 letters, digits, blanks, dots and hyphens'),
  feedTerm: z
    .string({ error: 'must be 1 to 20 lowercase letters, digits and hyphens' })
    .regex(/^[a-z0-9-]{1,20}$/, 'must be 1 to 20 lowercase letters, digits and hyphens'),
  dataset: override.shape.dataset.nonoptional('must be the name of a dataset on the SQD Portal'),
  hasTraces: z.boolean({ error: 'must be true when the dataset holds call traces, else false' }),
  finality: override.shape.finality.nonoptional('must be a number of blocks'),
  registry: contract,
  reputation: contract,
  tokens: override.shape.tokens.nonoptional('must be a list; empty: no settlements'),
  paymentContracts: override.shape.paymentContracts.unwrap().default([]),
  explorer: z.strictObject(
    { transaction: page('hash'), address: page('address'), block: page('block'), token: page('address', 'id') },
    { error: wanted('transaction, address, block and token') },
  ),
  hue: z
    .string({ error: 'must be # and six lowercase hex digits' })
    .regex(/^#[0-9a-f]{6}$/, 'must be # and six lowercase hex digits'),
})

/** Name of an added chain; table and schema names contain it, which limits its characters. */
export const newName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,30}$/, 'must be at most 31 lowercase letters, digits and underscores, a letter first')

export type Override = z.infer<typeof override>
