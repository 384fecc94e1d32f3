import {
  decodeAbiParameters,
  decodeEventLog,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { type Askable, askRegistry, type Client, registries } from './ask.ts'
import { timeOf } from './checks.ts'
import type { CheckLine } from './line.ts'
import type { ClaimProof, KeyPlace } from './proof.ts'
import { keyOf } from './statements.ts'

const registry = parseAbi([
  'struct KeyData { uint8 state; uint32 keyType; }',
  'function keyDataOf(uint256 fid, bytes key) view returns (KeyData)',
  'function custodyOf(uint256 fid) view returns (address)',
])
/** Registries of the network, for parts of a proof that name none. */
const ownKeys = { chain_id: registries.chainId, contract: registries.key }
const ownIds = { chain_id: registries.chainId, contract: registries.id }
/** States of a key in the KeyRegistry. */
const added = 1
const removed = 2

/** Checks of where the keys of a proof stand. */
export function keyLines(proof: ClaimProof, askable: Askable): Promise<CheckLine>[] {
  const moved = movesOf(proof)
  return proof.keys.flatMap((place) => {
    const { key, source, add, remove, key_add } = place
    if (key_add) return [keySigner(proof, key, key_add.signed_by, askable)]
    if (source !== 'chain') return []
    const at = add ?? ownKeys
    const removal = remove && [
      askRegistry(`${key}: the log that removed it`, askable, 'key', remove, async (client) => {
        const log = await logAt(client, remove, [removeTopic, topicOf(proof.fid), keccak256(key as Hex)])
        if (!log) return false
        const removedAt = Number((await client.getBlock({ blockNumber: log.blockNumber })).timestamp)
        const signed = proof.address_proofs.flatMap(({ message }) => (message?.signer === key ? [message] : []))
        return signed.every(({ data_bytes }) => (timeOf(data_bytes) ?? Infinity) < removedAt)
      }),
    ]
    return [
      askRegistry(`${key}: the registry had it for the FID`, askable, 'key', at, async (client) => {
        const { state, keyType } = await keyDataOf(client, at.contract, proof.fid, key as Hex)
        return keyType === 1 && state >= added
      }),
      askRegistry(`${key}: the log that added it`, askable, 'key', at, async (client) => {
        if (!add) return 'the proof does not name it'
        const topics = [addTopic, topicOf(proof.fid), topicOf(1), keccak256(key as Hex)]
        const log = await logAt(client, add, topics)
        return log !== undefined && requestFidOf(log) === place.request_fid
      }),
      askRegistry(`${key}: it still stands`, askable, 'key', at, async (client) => {
        const { state } = await keyDataOf(client, at.contract, proof.fid, key as Hex)
        return stands(proof, place, state)
      }),
      askRegistry(
        `${key}: it was added after the FID changed hands`,
        askable,
        'id',
        proof.custody ?? ownIds,
        async (client) => {
          const last = (await moved(client)).findLast(({ time }) => time <= Date.parse(proof.claimed_at) / 1_000)
          if (!last || !isReliedOn(proof, key)) return true
          return add ? add.block_number > last.block : 'the proof does not say when it was added'
        },
      ),
      ...(removal ?? []),
    ]
  })
}

/** A key that was removed may since have signed with an older date; who saw its message before is the service alone. */
function stands({ state, statement }: ClaimProof, place: KeyPlace, now: number): boolean | string {
  if (now === added) return place.state === added && place.remove === null
  const isOfToken = statement.kind === 'jfs' && keyOf(statement) === place.key
  if (now !== removed || (isOfToken && state !== 'ended')) return false
  if (place.state !== removed) return 'it was removed since: get a newer proof'
  return 'it was removed; that it signed before is the service’s word alone'
}

/** Whether a claim rests on what a key signed, not only a part that is marked as a former owner's. */
function isReliedOn({ address_proofs, statement }: ClaimProof, key: string): boolean {
  if (statement.kind === 'jfs' && keyOf(statement) === key) return true
  return address_proofs.some(({ message, before_custody }) => message?.signer === key && !before_custody)
}

/**
 * Whether the address that signed for a key off the chain is the custody address, or was until the last transfer. Any
 * other may have been earlier still, which nobody is asked. A live claim that rests on a former owner's key is `unknown`
 * too: former owners can still sign with it.
 */
async function keySigner(proof: ClaimProof, key: string, signer: string, askable: Askable): Promise<CheckLine> {
  const { fid, state, custody } = proof
  const name = `${key}: who signed for it is the custody address`
  if (!custody) return { name, outcome: 'unknown', detail: 'the proof names no custody address' }
  const { contract, since } = custody
  return askRegistry(name, askable, 'id', custody, async (client) => {
    if ((await custodyOf(client, contract, fid)) === signer) return true
    const topics = [transferTopic, pad(signer as Hex), undefined, topicOf(fid)]
    if (!since || !(await logAt(client, { contract, ...since }, topics)))
      return 'it is not today, and may have been earlier'
    return (
      state === 'ended' || !isReliedOn(proof, key) || 'it was until the last transfer, and the claim rests on the key'
    )
  })
}

/** Checks of whose the FID is, and that nothing a claim rests on is older than its last change of hands. */
export function custodyLines(proof: ClaimProof, askable: Askable): (CheckLine | Promise<CheckLine>)[] {
  const { fid, custody, address_proofs, claimed_at, state } = proof
  const moved = movesOf(proof)
  const place = custody ?? ownIds
  const younger = address_proofs.flatMap(({ address, message, before_custody }) => {
    if (!message || before_custody) return []
    return askRegistry(
      `${address}: the message is younger than the last transfer`,
      askable,
      'id',
      place,
      async (client) => {
        const last = (await moved(client)).findLast(({ time }) => time <= Date.parse(claimed_at) / 1_000)
        return !last || (timeOf(message.data_bytes) ?? 0) > last.time
      },
    )
  })
  if (!custody) {
    const name = 'the FID was not transferred but as the proof says'
    return [...younger, { name, outcome: 'unknown', detail: 'the proof names no custody address' }]
  }
  const { address, contract, since, read_at } = custody
  return [
    ...younger,
    askRegistry('the custody is still the same', askable, 'id', custody, async (client) => {
      return (await custodyOf(client, contract, fid)) === address
    }),
    askRegistry('the FID was not transferred but as the proof says', askable, 'id', custody, async (client) => {
      const last = (await moved(client)).at(-1)
      if (state !== 'ended' && last && last.time > Date.parse(claimed_at) / 1_000) return false
      if (!since || !last) return !since === !last
      return (
        last.to === address &&
        last.tx === since.tx_hash &&
        last.index === since.log_index &&
        last.block === since.block_number &&
        (await wasRecovery(client, contract, last, fid)) === (since.kind === 'recovered')
      )
    }),
    askRegistry('the block at which the service read the custody', askable, 'id', custody, async (client) => {
      if (!read_at) return 'the proof names none'
      return (await client.getBlock({ blockNumber: BigInt(read_at.block_number) })).hash === read_at.block_hash
    }),
  ]
}

interface Move {
  readonly block: number
  readonly index: number
  readonly tx: string
  readonly to: string
  /** Unix seconds. */
  readonly time: number
}

/** All changes of hands of the FID since it was registered, the oldest first; searched once. */
function movesOf({ fid, custody }: ClaimProof): (client: Client) => Promise<readonly Move[]> {
  let found: Promise<readonly Move[]> | undefined
  return (client) => {
    found ??= search(client)
    return found
  }
  async function search(client: Client): Promise<readonly Move[]> {
    const address = (custody?.contract ?? ownIds.contract) as Hex
    const head = await client.getBlockNumber()
    const fromBlock = head < registries.fromBlock ? 0n : registries.fromBlock
    const logs = await client.getLogs({
      address,
      event: transfer,
      args: { id: BigInt(fid) },
      fromBlock,
      toBlock: 'latest',
    })
    return Promise.all(
      logs.map(async ({ blockNumber, logIndex, transactionHash, args }) => ({
        block: Number(blockNumber),
        index: logIndex,
        tx: transactionHash,
        to: String(args.to).toLowerCase(),
        time: Number((await client.getBlock({ blockNumber })).timestamp),
      })),
    )
  }
}

/** Whether the transfer was a recovery, which its call reports before it. */
async function wasRecovery(client: Client, contract: string, { tx }: Move, fid: number): Promise<boolean> {
  const { logs } = await client.getTransactionReceipt({ hash: tx as Hex })
  return logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === contract && topics[0] === recoverTopic && topics[3] === topicOf(fid),
  )
}

export async function custodyOf(client: Client, contract: string, fid: number): Promise<string> {
  const asked = { address: contract as Hex, abi: registry, functionName: 'custodyOf', args: [BigInt(fid)] } as const
  return (await client.readContract(asked)).toLowerCase()
}

export function keyDataOf(client: Client, contract: string, fid: number, key: Hex) {
  const args = [BigInt(fid), key] as const
  return client.readContract({ address: contract as Hex, abi: registry, functionName: 'keyDataOf', args })
}

const [transfer] = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed id)'])
/** Event Add(uint256 fid, uint32 keyType, bytes key, bytes, uint8, bytes) of farcasterxyz/contracts, KeyRegistry. */
const addTopic = '0x7d285df41058466977811345cd453c0c52e8d841ffaabc74fc050f277ad4de02'
/** Event of the KeyRegistry: Remove(uint256 fid, bytes key, bytes). */
const removeTopic = '0x09e77066e0155f46785be12f6938a6b2e4be4381e59058129ce15f355cb96958'
/** Event of the IdRegistry: Transfer(address from, address to, uint256 id). */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Event of the IdRegistry: Recover(address from, address to, uint256 id). */
const recoverTopic = '0xf6891c84a6c6af32a6d052172a8acc4c631b1d5057ffa2bc1da268b6938ea2da'
const topicOf = (number: number) => numberToHex(number, { size: 32 })

/** Position of a log according to a proof; `block_hash` absent: not stated. */
interface Named {
  readonly contract: string
  readonly block_number: number
  readonly block_hash?: string
  readonly tx_hash: string
  readonly log_index: number
}

/** The contract's log at a position, when it has these topics; a topic of undefined matches any. */
async function logAt(client: Client, place: Named, topics: readonly (string | undefined)[]) {
  const { blockHash, logs } = await client.getTransactionReceipt({ hash: place.tx_hash as Hex })
  const log = logs.find(({ logIndex }) => logIndex === place.log_index)
  if (!log || Number(log.blockNumber) !== place.block_number) return undefined
  if (place.block_hash !== undefined && blockHash !== place.block_hash) return undefined
  const isTopic = (topic: string | undefined, index: number) => topic === undefined || log.topics[index] === topic
  return log.address.toLowerCase() === place.contract && topics.every(isTopic) ? log : undefined
}

const adding = parseAbi([
  'event Add(uint256 indexed fid, uint32 indexed keyType, bytes indexed key, bytes keyBytes, uint8 metadataType, bytes metadata)',
])
/** Source: farcasterxyz/contracts, SignedKeyRequestValidator. */
const keyRequest = parseAbiParameters('(uint256 requestFid, address requestSigner, bytes signature, uint256 deadline)')

/** FID of the app that requested a key, as the registry has checked; null: the log's metadata names none. */
function requestFidOf({ data, topics }: { data: Hex; topics: [] | [Hex, ...Hex[]] }): number | null {
  try {
    const { args } = decodeEventLog({ abi: adding, data, topics: topics as [Hex, ...Hex[]] })
    const [{ requestFid }] = decodeAbiParameters(keyRequest, args.metadata)
    return Number(requestFid)
  } catch {
    return null // no metadata, or of another type
  }
}
