import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Chain, type ChainName, chainNames, chains } from './chains.config.ts'
import { httpUrl, nodeUrl } from './settings.forms.ts'
import { portal as portalSetting } from './settings.ts'

/** A chain as one installation reads it: the table's row, this operator's overrides, and where its data comes from. */
export interface ChainSettings extends Omit<Chain, 'rpcVariable' | 'gatewayVariable'> {
  readonly name: ChainName
  /** A chain that is off is neither indexed nor expected to be. */
  readonly enabled: boolean
  /** JSON-RPC address of the tip; null: history only. */
  readonly rpc: string | null
  /** Address of the Portal, without the dataset; null: not used. */
  readonly portal: string | null
  /** Address of a v2 archive, used instead of the Portal; null: none. */
  readonly gateway: string | null
}

/** What the environment says about the chains; `file` is the parsed content of CHAINS_FILE. */
export interface ChainSources {
  readonly env: NodeJS.ProcessEnv
  readonly file?: unknown
}

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .toLowerCase()
const block = z.int({ error: 'must be a block number' }).nonnegative().max(2_147_483_647)
const contract = z.strictObject({ address, fromBlock: block })
const deployment = z.strictObject({ address })

const override = z.strictObject({
  enabled: z.boolean().optional(),
  rpc: nodeUrl.nullable().optional(),
  portal: httpUrl.nullable().optional(),
  dataset: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be a dataset name of lowercase letters, digits and hyphens')
    .optional(),
  gateway: httpUrl.nullable().optional(),
  finality: z.int({ error: 'must be a number of blocks' }).min(0).max(100_000).optional(),
  registry: contract.optional(),
  reputation: contract.optional(),
  tokens: z
    .array(
      contract.extend({
        decimals: z.literal(6, { error: 'must be 6: amounts are kept as integer millionths of a dollar' }),
      }),
    )
    .max(16)
    .optional(),
  keyRegistry: deployment.optional(),
  idRegistry: deployment.extend({ fromBlock: block.optional() }).optional(),
})

const chainsFile = z.partialRecord(z.enum(chainNames as [ChainName, ...ChainName[]]), override)

/** The parsed content of the file CHAINS_FILE names; undefined when it names none. */
export function readChainsFile(path: string | undefined): unknown {
  if (!path) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`CHAINS_FILE ${path} is not readable JSON: ${(cause as Error).message}`, { cause })
  }
}

/**
 * The chain table with this installation's overrides applied.
 *
 * Throws one error that names every bad value of the file and of the environment at once.
 */
export function readChains({ env, file }: ChainSources): Record<ChainName, ChainSettings> {
  const problems: string[] = []
  const overrides = chainsFile.safeParse(file === undefined ? {} : file)
  if (!overrides.success) {
    for (const issue of overrides.error.issues) problems.push(`CHAINS_FILE ${describe(issue)}`)
  }
  const read = (variable: string, schema: z.ZodType<string>) => {
    const value = env[variable]
    if (value === undefined || value === '') return null
    const parsed = schema.safeParse(value)
    if (!parsed.success) problems.push(`${variable} ${parsed.error.issues[0]?.message}`)
    return value
  }
  const portal = read('PORTAL_URL', httpUrl) ?? portalSetting.default
  const settings = chainNames.map((name) => {
    const { rpcVariable, gatewayVariable, ...row }: Chain = chains[name]
    const given = overrides.data?.[name] ?? {}
    const tip = read(rpcVariable, nodeUrl)
    const archive = read(gatewayVariable, httpUrl)
    return {
      ...row,
      name,
      enabled: given.enabled ?? true,
      rpc: given.rpc === undefined ? tip : given.rpc,
      portal: given.portal === undefined ? portal : given.portal,
      gateway: given.gateway === undefined ? archive : given.gateway,
      dataset: given.dataset ?? row.dataset,
      finalityConfirmation: given.finality ?? row.finalityConfirmation,
      registry: given.registry ?? row.registry,
      reputation: given.reputation ?? row.reputation,
      tokens: given.tokens ?? row.tokens,
      social: socialContracts(row.social, given),
    } satisfies ChainSettings
  })
  for (const { name, enabled, rpc, portal, gateway } of settings) {
    if (enabled && !rpc && !portal && !gateway) {
      problems.push(`CHAINS_FILE ${name}: needs a source; give rpc, portal or gateway, or set enabled to false`)
    }
  }
  if (problems.length > 0) throw new Error(`the chain settings are wrong:\n  ${problems.join('\n  ')}`)
  return Object.fromEntries(settings.map((chain) => [chain.name, chain])) as Record<ChainName, ChainSettings>
}

function socialContracts(row: Chain['social'], given: z.infer<typeof override>): Chain['social'] {
  const idRegistry = given.idRegistry?.address ?? row?.idRegistry
  const keyRegistry = given.keyRegistry?.address ?? row?.keyRegistry
  if (!idRegistry || !keyRegistry) return row
  // A registry of one's own begins where nobody knows but who deployed it: with the chain, unless that is said.
  const fromBlock = given.idRegistry ? (given.idRegistry.fromBlock ?? 0) : (row?.fromBlock ?? 0)
  return { idRegistry, keyRegistry, fromBlock }
}

/** `base.tokens[0].address: must be 0x and 40 hex digits` */
function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  )
  if (issue.code !== 'unrecognized_keys') return `${path || 'content'}: ${issue.message}`
  const keys = issue.keys.map((key) => (path ? `${path}.${key}` : key)).join(', ')
  return path ? `${keys}: is not a setting` : `${keys}: is not a chain; chains are ${chainNames.join(', ')}`
}
