import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { withChosen } from './chains.choice.ts'
import { type Chain, firstPaidBlock } from './chains.row.ts'
import { addition, mostBatchCalls, newName, type Override, override } from './chains.schema.ts'
import {
  addChains,
  amendChain,
  type ChainName,
  chainNames,
  chainOf,
  chains,
  type DefaultChain,
  isDefaultChain,
} from './chains.ts'
import { portal as portalSetting } from './settings.chains.ts'
import { httpUrl, nodeUrl } from './settings.schema.ts'

/** A chain as one installation reads it: the table's row, this operator's overrides, and where its data comes from. */
export interface ChainSettings extends Omit<Chain, 'rpcVariable' | 'gatewayVariable'> {
  readonly name: ChainName
  /** A chain that is off is neither indexed nor expected to be. */
  readonly enabled: boolean
  /** JSON-RPC address that the chain's newest blocks are read from; null: only history from the Portal is indexed. */
  readonly rpc: string | null
  /** Address of the SQD Portal, without the dataset; null: the Portal is not used. */
  readonly portal: string | null
  /** Address of a self-hosted v2 archive, used instead of the Portal; null: there is none. */
  readonly gateway: string | null
  /** Most JSON-RPC calls in one request to the node. */
  readonly batch: number
  /** Whether a block whose logs bloom tells of more than its logs is asked for again. */
  readonly bloom: boolean
}

/** What the environment says about the chains; `file` is the parsed content of CHAINS_FILE. */
interface ChainSources {
  readonly env: NodeJS.ProcessEnv
  readonly file?: unknown
}

/** Settings by chain: those of the table's own chains, and of the chains that are added. */
type AllChainSettings = Readonly<Record<DefaultChain, ChainSettings>> & Readonly<Record<ChainName, ChainSettings>>

interface ParsedFile {
  readonly overrides: Readonly<Partial<Record<ChainName, Override>>>
  /** Rows of chains that are not in the table. */
  readonly added: Readonly<Record<ChainName, Chain>>
  readonly problems: readonly string[]
}

function parseFile(file: unknown): ParsedFile {
  const content = z.record(z.string(), z.unknown()).safeParse(file === undefined ? {} : file)
  if (!content.success) return { overrides: {}, added: {}, problems: content.error.issues.map(describe) }
  const overrides: Record<ChainName, Override> = {}
  const added: Record<ChainName, Chain> = {}
  const problems: string[] = []
  for (const [name, value] of Object.entries(content.data)) {
    const note = (issue: z.core.$ZodIssue) => problems.push(describe({ ...issue, path: [name, ...issue.path] }))
    if (isDefaultChain(name)) {
      const parsed = override.safeParse(value)
      if (parsed.success) overrides[name] = parsed.data
      else parsed.error.issues.forEach(note)
      continue
    }
    newName.safeParse(name).error?.issues.forEach(note)
    const parsed = addition.safeParse(value)
    if (parsed.success) {
      overrides[name] = parsed.data
      added[name] = toRow(name, parsed.data)
    } else {
      problems.push(
        `${name}: is not in the table of chains (${Object.keys(chains).filter(isDefaultChain).join(', ')}), so its row has to be whole`,
      )
      parsed.error.issues.forEach(note)
    }
  }
  return { overrides, added, problems: [...problems, ...collisions(added)] }
}

/**
 * Partitions of a chain whose entry does not say how it is divided. Its rate of blocks is not known; where settlements are
 * dense, partitions get smaller by themselves.
 */
const usualPartitions = ({ registry }: Pick<Chain, 'registry'>): Chain['partitions'] => ({
  blocks: 10_000_000,
  oneBelow: Math.floor(registry.fromBlock / 1_000_000) * 1_000_000,
})

/** Members of an entry that are no facts of a chain: what an installation sets, and what has another name in the table. */
const ofEntry = [
  'enabled',
  'rpc',
  'portal',
  'gateway',
  'batch',
  'bloom',
  'finality',
  'idRegistry',
  'keyRegistry',
] as const

function toRow(name: ChainName, entry: z.infer<typeof addition>): Chain {
  const { finality, idRegistry, keyRegistry } = entry
  const facts = omit(entry, ofEntry)
  const social = socialContracts(null, { idRegistry, keyRegistry })
  const rpcVariable = `RPC_${name.toUpperCase()}`
  const gatewayVariable = `GATEWAY_${name.toUpperCase()}`
  const partitions = facts.partitions ?? usualPartitions(facts)
  return { ...facts, partitions, rpcVariable, gatewayVariable, finalityConfirmation: finality, social }
}

function omit<T extends object, K extends keyof T>(from: T, names: readonly K[]): Omit<T, K> {
  const isLeft = ([name]: readonly [string, unknown]) => !names.includes(name as K)
  return Object.fromEntries(Object.entries(from).filter(isLeft)) as Omit<T, K>
}

/** A chain is asked for by its name, its label or its id: none of them may mean two chains. */
const namesOf = (name: ChainName, { id, label }: Chain) => ({ name, label: label.toLowerCase(), id: String(id) })

/** Fields whose values no two chains may share: their category in feeds, and the dataset they are read from. */
const unique = ['feedTerm', 'dataset'] as const

function collisions(added: ParsedFile['added']): string[] {
  const known = Object.entries(chains).filter(([name]) => isDefaultChain(name))
  const rows = Object.entries(added)
  return rows.flatMap(([name, row], index) =>
    [...known, ...rows.slice(0, index)].flatMap(([other, taken]) => {
      const names = Object.values(namesOf(other, taken))
      const fields = [
        ...Object.entries(namesOf(name, row)).filter(([, value]) => names.includes(value)),
        ...unique.filter((field) => row[field] === taken[field]).map((field) => [field, row[field]] as const),
      ]
      return fields.map(([field, value]) => `${name}.${field}: ${value} is that of ${other}`)
    }),
  )
}

/** The parsed content of the file CHAINS_FILE names; undefined when it names none. */
export function readChainsFile(path: string | undefined): unknown {
  if (!path) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`CHAINS_FILE ${path} is not readable JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Content of the CHAINS_FILE that this process opened. */
let opened: unknown

/** Whether this process has opened a CHAINS_FILE with the content of the one at `path`. */
export function knowsChainsOf(path: string): boolean {
  return isDeepStrictEqual(opened, readChainsFile(path))
}

/**
 * Makes known to this process the ready-made chains that CHAINS names, the chains that CHAINS_FILE adds, its partitions,
 * and tokens and payment contracts of chains that have none in the table. Returns what both say, in the form of the file's content; undefined
 * when neither is set. Every main calls it before anything else. Throws one error that names every bad value when CHAINS
 * or a row of the file is wrong; other faults are left to `readChains`, which names those of the environment too.
 */
export function openChains({ CHAINS, CHAINS_FILE }: NodeJS.ProcessEnv): unknown {
  opened = readChainsFile(CHAINS_FILE)
  const file = withChosen(CHAINS, opened)
  const { overrides, added, problems } = parseFile(file)
  const isAdded = (problem: string) => !isDefaultChain(problem.split(/[.:]/, 1)[0] ?? '')
  if (problems.some(isAdded)) {
    refuse(problems.map((problem) => `CHAINS_FILE ${problem}`))
  }
  addChains(added)
  for (const [name, { partitions, tokens = [], paymentContracts = [] } = {}] of Object.entries(overrides)) {
    if (partitions) amendChain(name, { partitions })
    if (paymentContracts.length > 0 && firstPaidBlock(chainOf(name)) === null) amendChain(name, { paymentContracts })
    // Its settlements are counted and divided like any, though the table has the chain without them; and amounts are
    // looked for in base units, and symbols told, where a token has others than the table's.
    const isNews = chainOf(name).tokens.length === 0 || tokens.some(({ decimals, symbol }) => decimals !== 6 || symbol)
    if (tokens.length > 0 && isNews) amendChain(name, { tokens })
  }
  return file
}

/**
 * The chain table with this installation's overrides applied, and the rows it adds.
 *
 * Throws one error that names every bad value of the file and of the environment at once.
 */
export function readChains({ env, file }: ChainSources): AllChainSettings {
  const problems: string[] = []
  const { overrides, added, problems: ofFile } = parseFile(file)
  problems.push(...ofFile.map((problem) => `CHAINS_FILE ${problem}`))
  const read = (variable: string, schema: z.ZodType<string>) => {
    const value = env[variable]
    if (value === undefined || value === '') return null
    const parsed = schema.safeParse(value)
    if (!parsed.success) problems.push(`${variable} ${parsed.error.issues[0]?.message}`)
    return value
  }
  const portal = read('PORTAL_URL', httpUrl) ?? portalSetting.default
  const names = [...chainNames, ...Object.keys(added).filter((name) => !chainNames.includes(name))]
  const settings = names.map((name) => {
    const { rpcVariable, gatewayVariable, ...row }: Chain = added[name] ?? chainOf(name)
    const given = overrides[name] ?? {}
    const tip = read(rpcVariable, nodeUrl)
    const archive = read(gatewayVariable, httpUrl)
    return {
      ...row,
      name,
      enabled: given.enabled ?? true,
      rpc: given.rpc === undefined ? tip : given.rpc,
      portal: given.portal === undefined ? portal : given.portal,
      gateway: given.gateway === undefined ? archive : given.gateway,
      batch: given.batch ?? mostBatchCalls,
      bloom: given.bloom ?? true,
      dataset: given.dataset ?? row.dataset,
      finalityConfirmation: given.finality ?? row.finalityConfirmation,
      registry: given.registry ?? row.registry,
      reputation: given.reputation ?? row.reputation,
      tokens: given.tokens ?? row.tokens,
      paymentContracts: given.paymentContracts ?? row.paymentContracts,
      partitions: given.partitions ?? row.partitions,
      social: socialContracts(row.social, given),
    } satisfies ChainSettings
  })
  for (const { name, enabled, rpc, portal, gateway } of settings) {
    if (enabled && !rpc && !portal && !gateway) {
      problems.push(`CHAINS_FILE ${name}: needs a source; give rpc, portal or gateway, or set enabled to false`)
    }
  }
  refuse(problems)
  return Object.fromEntries(settings.map((chain) => [chain.name, chain])) as AllChainSettings
}

/** Address of each chain's ERC-8004 identity registry, by chain name. */
export function identityRegistriesOf(settings: Readonly<Record<string, Pick<ChainSettings, 'registry'>>>) {
  return Object.fromEntries(Object.entries(settings).map(([name, { registry }]) => [name, registry.address]))
}

/** The social network's registries that this installation asks, and their chain. */
export function socialRegistriesOf(settings: Readonly<Record<ChainName, Pick<ChainSettings, 'id' | 'social'>>>) {
  for (const { id: chainId, social } of Object.values(settings)) {
    if (social) return { chainId, keyRegistry: social.keyRegistry, idRegistry: social.idRegistry }
  }
  throw new Error('no chain of the table has the social network’s registries')
}

/** The settings of a chain. Throws when there is no such chain. */
export function settingsOf(settings: Readonly<Record<ChainName, ChainSettings>>, name: ChainName): ChainSettings {
  const chain = settings[name]
  if (!chain) throw new Error(`${name} is not a chain; chains are ${Object.keys(settings).join(', ')}`)
  return chain
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`the chain settings are wrong:\n  ${problems.join('\n  ')}`)
}

function socialContracts(row: Chain['social'], given: Override): Chain['social'] {
  const idRegistry = given.idRegistry?.address ?? row?.idRegistry
  const keyRegistry = given.keyRegistry?.address ?? row?.keyRegistry
  if (!idRegistry || !keyRegistry) return row
  // Only its operator knows the deployment block of a registry of his own: without `fromBlock` it is read from block 0.
  const fromBlock = given.idRegistry ? (given.idRegistry.fromBlock ?? 0) : (row?.fromBlock ?? 0)
  return { idRegistry, keyRegistry, fromBlock }
}

/** One line for a bad value, such as `base.tokens[0].address: must be 0x and 40 hex digits`. */
function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  )
  if (issue.code !== 'unrecognized_keys') return `${path || 'content'}: ${issue.message}`
  return `${issue.keys.map((key) => `${path}.${key}`).join(', ')}: is not a setting`
}
