import {
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  parseAbi,
  zeroAddress,
} from 'viem'
import { chains } from '../../../config/chains.ts'
import { fixture, readFixture } from '../fixture.ts'
import { type BlockPart, groupBy, type Origin, type RecordedChain, type RecordedLog } from './file.ts'

export const registryAbi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event MetadataUpdate(uint256 tokenId)',
  'event Registered(uint256 indexed agentId, string agentURI, address indexed owner)',
  'event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy)',
  'event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)',
])

/** A log of the registry as published, Ethereum only. */
interface RegistryLog {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
  readonly topics: readonly [Hex, ...Hex[]]
  readonly data: Hex
}

export function registryLogs(): { registered: RegistryLog[]; uriUpdated: RegistryLog[] } {
  const { registeredLogs, uriUpdatedLogs } = fixture('chain/erc8004-ethereum-event-logs.json.gz')
  return { registered: registeredLogs, uriUpdated: uriUpdatedLogs }
}

/** A registration of the public catalog: its place on the chain, and its holder when the catalog read it. */
interface CatalogRow {
  readonly chain: RecordedChain
  readonly agentId: number
  readonly owner: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
}

/**
 * Rows of the catalog's sample, without those whose Registered log is on file.
 *
 * 25 rows name Base and a block at which Base had no registry yet; their ids and blocks stand in Ethereum's sequence
 * without a break, so the catalog took the chain from the agent's own file. They are read as Ethereum's.
 */
function catalogRows(): CatalogRow[] {
  const onFile = new Set(registryLogs().registered.map((log) => Number(log.topics[1])))
  return readFixture('chain/erc8004-registrations-sample.csv')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [named, agentId, owner, block, transactionHash] = line.split(',') as [string, string, Hex, string, Hex]
      const blockNumber = Number(block)
      const chain = named === 'base' && blockNumber >= chains.base.registry.fromBlock ? 'base' : 'ethereum'
      return { chain, agentId: Number(agentId), owner, blockNumber, transactionHash } as const
    })
    .filter(({ chain, agentId }) => chain === 'base' || !onFile.has(agentId))
}

/** One registration with its place in the block; `log` is its Registered log when that was published. */
interface Registration {
  readonly agentId: number
  readonly owner: Hex
  readonly uri: string
  readonly blockNumber: number
  readonly transactionHash: Hex
  transactionIndex: number
  logIndex: number
  readonly log?: RegistryLog
}

/**
 * The registry's events of a chain, a part for each registration and each URI update. Next to a Registered log the
 * contract always emits the mint's Transfer and, with a URI, MetadataUpdate before it, and the agentWallet's
 * MetadataSet after it: these are derived. A catalog row is derived as a registration without a URI to its holder.
 */
export function recordedRegistrations(chain: RecordedChain): BlockPart[] {
  const { registered, uriUpdated } = chain === 'ethereum' ? registryLogs() : { registered: [], uriUpdated: [] }
  const byBlock = groupBy(
    [
      ...registered.map(fromLog),
      ...catalogRows()
        .filter((row) => row.chain === chain)
        .map(fromRow),
    ],
    ({ blockNumber }) => blockNumber,
  )
  for (const registrations of byBlock.values()) place(registrations)
  return [
    ...[...byBlock.values()].flat().map((registration) => toPart(chain, registration)),
    ...uriUpdated.map((log) => ({
      number: log.blockNumber,
      hash: log.blockHash,
      transactions: [toTransaction(chain, log, topicAddress(log.topics[2]!))],
      logs: [toRegistryLog(chain, log, log, 'recorded')],
    })),
  ]
}

function fromLog(log: RegistryLog): Registration {
  const { args } = decodeEventLog({
    abi: registryAbi,
    eventName: 'Registered',
    topics: log.topics as never,
    data: log.data,
  })
  return { ...log, agentId: Number(args.agentId), owner: args.owner, uri: args.agentURI, log }
}

function fromRow(row: CatalogRow): Registration {
  return { ...row, uri: '', transactionIndex: -1, logIndex: -1 }
}

/** Logs of one registration without a URI: Transfer, Registered, MetadataSet. */
const logsOfPlain = 3

/**
 * Gives derived registrations of one block a place: ids ascend with the log index, and within a batch every id
 * takes three logs, which is how the recorded ones of the first batch (0 at 117, 1 at 120) stand.
 */
function place(registrations: Registration[]): void {
  registrations.sort((a, b) => a.agentId - b.agentId)
  const known = registrations.findIndex(({ log }) => log)
  const start = known < 0 ? 0 : known
  if (known < 0) Object.assign(registrations[0]!, { transactionIndex: 0, logIndex: 1 })
  for (const [at, registration] of registrations.entries()) {
    const before = registrations[at - 1]
    if (at <= start || registration.log || !before) continue
    follow(registration, before, 1)
  }
  for (let at = start - 1; at >= 0; at--) follow(registrations[at]!, registrations[at + 1]!, -1)
}

function follow(registration: Registration, neighbour: Registration, step: 1 | -1): void {
  const sameTransaction = registration.transactionHash === neighbour.transactionHash
  const ids = sameTransaction ? Math.abs(registration.agentId - neighbour.agentId) : 1
  registration.transactionIndex = neighbour.transactionIndex + (sameTransaction ? 0 : step)
  registration.logIndex = neighbour.logIndex + step * (ids * logsOfPlain + (neighbour.uri === '' || step > 0 ? 0 : 1))
}

function toPart(chain: RecordedChain, registration: Registration): BlockPart {
  const { agentId, owner, uri, log, logIndex, blockNumber } = registration
  const id = BigInt(agentId)
  const derive = (at: number, topics: readonly unknown[], data: Hex = '0x') =>
    toRegistryLog(chain, registration, { logIndex: at, topics: topics as Hex[], data }, 'derived')
  const mint = encodeEventTopics({
    abi: registryAbi,
    eventName: 'Transfer',
    args: { from: zeroAddress, to: getAddress(owner), tokenId: id },
  })
  const created = encodeEventTopics({
    abi: registryAbi,
    eventName: 'Registered',
    args: { agentId: id, owner: getAddress(owner) },
  })
  const wallet = encodeEventTopics({
    abi: registryAbi,
    eventName: 'MetadataSet',
    args: { agentId: id, indexedMetadataKey: 'agentWallet' },
  })
  const walletData = encodeAbiParameters(
    [{ type: 'string' }, { type: 'bytes' }],
    ['agentWallet', owner.toLowerCase() as Hex],
  )
  const update = encodeEventTopics({ abi: registryAbi, eventName: 'MetadataUpdate' })
  return {
    number: blockNumber,
    hash: log?.blockHash,
    transactions: [toTransaction(chain, registration, owner)],
    logs: [
      derive(logIndex - (uri === '' ? 1 : 2), mint),
      ...(uri === '' ? [] : [derive(logIndex - 1, update, encodeAbiParameters([{ type: 'uint256' }], [id]))]),
      log
        ? toRegistryLog(chain, log, log, 'recorded')
        : derive(logIndex, created, encodeAbiParameters([{ type: 'string' }], [uri])),
      derive(logIndex + 1, wallet, walletData),
    ],
  }
}

interface Position {
  readonly transactionIndex: number
  readonly transactionHash: Hex
}

function toRegistryLog(
  chain: RecordedChain,
  { transactionIndex, transactionHash }: Position,
  { logIndex, topics, data }: { logIndex: number; topics: readonly Hex[]; data: Hex },
  origin: Origin,
): RecordedLog {
  const { address } = chains[chain].registry
  return { logIndex, transactionIndex, transactionHash, address, topics, data, origin }
}

/** Makes a transaction of the registry, of which only hashes were published: sent by the holder, without calldata. */
function toTransaction(chain: RecordedChain, { transactionIndex, transactionHash }: Position, sender: Hex) {
  return {
    transactionIndex,
    hash: transactionHash,
    from: sender.toLowerCase(),
    to: chains[chain].registry.address,
    input: '0x',
    sighash: '0x',
    status: 1,
    origin: 'derived',
  } as const
}

function topicAddress(topic: Hex): Hex {
  return `0x${topic.slice(26)}`
}
