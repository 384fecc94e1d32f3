import { createHash } from 'node:crypto'
import type { ChainName } from '../../config/chains.ts'
import { Registration } from '../../db/model/registration.model.ts'
import { RegistrationApproval } from '../../db/model/registrationApproval.model.ts'
import { RegistrationMetadata } from '../../db/model/registrationMetadata.model.ts'
import { RegistrationTransfer } from '../../db/model/registrationTransfer.model.ts'
import { RegistrationWallet } from '../../db/model/registrationWallet.model.ts'
import { keyDigest, walletKey } from '../../db/registry-keys.ts'
import { storableText } from '../../db/text.ts'
import type { EventPlace, RegistrationEvent } from './registration-events.ts'

/** Bytes of a URI at most; of a longer one only length and hash are kept. */
export const maxUriBytes = 256 * 1024
/** Most code points of a metadata key, and most bytes of its value; what is behind them is not kept. */
export const maxEntryLength = 64 * 1024

/** Rows that a run of registry events writes. Each id occurs once in each list. */
interface RegistrationChanges {
  /** Whole rows with the present state, to be upserted. */
  readonly registrations: Registration[]
  /** To be added. */
  readonly transfers: RegistrationTransfer[]
  /** Whole rows with the present values, to be upserted. */
  readonly metadata: RegistrationMetadata[]
  /** To be added. */
  readonly wallets: RegistrationWallet[]
  /** To be added. */
  readonly approvals: RegistrationApproval[]
}

/**
 * Applies events, which must come in log order, to the rows as they are in the database before them. `existing` holds
 * every registration of the events that has a row.
 */
export function applyRegistrationEvents(
  chain: ChainName,
  existing: readonly Registration[],
  events: readonly RegistrationEvent[],
): RegistrationChanges {
  const registrations = new Map<string, Registration>()
  const before = new Map(existing.map((row) => [row.id, row]))
  const metadata = new Map<string, RegistrationMetadata>()
  const transfers: RegistrationTransfer[] = []
  const wallets: RegistrationWallet[] = []
  const approvals: RegistrationApproval[] = []
  const minting = new Minting()
  for (const event of events) {
    const id = registrationId(chain, event.agentId)
    const row = registrations.get(id) ?? before.get(id) ?? firstSeen(chain, event)
    registrations.set(id, row)
    row.updatedBlock = event.blockNumber
    row.updatedAt = event.blockTimestamp
    const isOverridden = minting.isOverridden(event)
    if (event.kind === 'transfer') {
      applyTransfer(row, event)
      transfers.push(toTransfer(chain, event))
    } else if (event.kind === 'approval') {
      approvals.push(toApproval(chain, event))
    } else if (event.kind !== 'metadata') {
      if (!isOverridden) applyUri(row, event.uri)
    } else if (!isOverridden) {
      const entry = toMetadata(chain, event)
      metadata.set(entry.id, entry)
      if (!isWallet(event)) continue
      row.agentWallet = toWallet(event.value)
      wallets.push(toWalletChange(chain, event))
    }
  }
  return { registrations: [...registrations.values()], transfers, metadata: [...metadata.values()], wallets, approvals }
}

export function registrationId(chain: ChainName, agentId: bigint): string {
  return `${chain}-${agentId}`
}

/**
 * Tracks mints until the registry logs them. A registration stores the wallet, mints, which runs the receiver's hook,
 * stores the URI when it was given one, and only then logs Registered and, right behind it, the MetadataSet of that
 * wallet. So changes that the hook makes are logged before the older values that they replace.
 */
class Minting {
  readonly #tokens = new Map<bigint, { wallet: boolean; uri: boolean; registered: EventPlace | undefined }>()

  /** Whether the event is stale: a hook has replaced its value already, and the registry holds the hook's. */
  isOverridden(event: RegistrationEvent): boolean {
    if (event.kind === 'transfer' && event.from === null) {
      this.#tokens.set(event.agentId, { wallet: false, uri: false, registered: undefined })
      return false
    }
    const token = this.#tokens.get(event.agentId)
    if (!token) return false
    if (event.kind === 'transfer') token.wallet = true
    if (event.kind === 'uri') token.uri = true
    if (event.kind === 'registered') {
      token.registered = event
      // Without a URI none is stored. An empty one that is given is logged alike; only a hook that names one can tell.
      return token.uri && event.uri.length === 0
    }
    if (event.kind !== 'metadata' || !isWallet(event)) return false
    const isOwnWord =
      token.registered?.blockNumber === event.blockNumber && token.registered.logIndex + 1 === event.logIndex
    if (isOwnWord) this.#tokens.delete(event.agentId)
    else token.wallet = true
    return isOwnWord && token.wallet
  }
}

function isWallet({ key }: { readonly key: Buffer }): boolean {
  return key.toString() === walletKey
}

/** A new row without a holder: only a Transfer sets one. */
function firstSeen(chain: ChainName, { agentId, blockNumber, blockTimestamp, txHash }: RegistrationEvent) {
  return new Registration({
    id: registrationId(chain, agentId),
    chain,
    agentId,
    owner: null,
    burned: false,
    agentWallet: null,
    agentUri: null,
    agentUriLength: null,
    agentUriSha256: null,
    registeredBlock: blockNumber,
    registeredAt: blockTimestamp,
    registeredTx: txHash,
    acquiredBlock: blockNumber,
    acquiredAt: blockTimestamp,
    updatedBlock: blockNumber,
    updatedAt: blockTimestamp,
  })
}

function applyTransfer(row: Registration, event: RegistrationEvent & { kind: 'transfer' }) {
  const { from, to, blockNumber, blockTimestamp, txHash } = event
  row.owner = to
  row.burned = to === null
  row.acquiredBlock = blockNumber
  row.acquiredAt = blockTimestamp
  if (from === null) {
    row.registeredBlock = blockNumber
    row.registeredAt = blockTimestamp
    row.registeredTx = txHash
  } else {
    // The registry clears it with an event of its own in front of the Transfer; the rule holds without it too.
    row.agentWallet = null
  }
}

function applyUri(row: Registration, uri: Buffer) {
  const tooLong = uri.length > maxUriBytes
  row.agentUri = tooLong ? null : storableText(uri.toString())
  row.agentUriLength = uri.length
  row.agentUriSha256 = tooLong ? createHash('sha256').update(uri).digest() : null
}

function toTransfer(chain: ChainName, event: RegistrationEvent & { kind: 'transfer' }) {
  const { agentId, from, to, blockNumber, logIndex, blockTimestamp, txHash } = event
  const id = `${chain}-${blockNumber}-${logIndex}`
  return new RegistrationTransfer({ id, chain, agentId, from, to, blockNumber, logIndex, blockTimestamp, txHash })
}

function toApproval(chain: ChainName, event: RegistrationEvent & { kind: 'approval' }) {
  const { agentId, owner, approved, blockNumber, logIndex, blockTimestamp, txHash } = event
  const id = `${chain}-${blockNumber}-${logIndex}`
  const place = { blockNumber, logIndex, blockTimestamp, txHash }
  return new RegistrationApproval({ id, chain, agentId, owner, approved, ...place })
}

function toWalletChange(chain: ChainName, event: RegistrationEvent & { kind: 'metadata' }) {
  const { agentId, value, blockNumber, logIndex, blockTimestamp, txHash } = event
  const id = `${chain}-${blockNumber}-${logIndex}`
  return new RegistrationWallet({
    id,
    chain,
    agentId,
    wallet: toWallet(value),
    blockNumber,
    logIndex,
    blockTimestamp,
    txHash,
  })
}

function toMetadata(chain: ChainName, event: RegistrationEvent & { kind: 'metadata' }) {
  const { agentId, key, value, blockNumber, logIndex, blockTimestamp, txHash } = event
  return new RegistrationMetadata({
    id: `${chain}-${agentId}-${keyDigest(key)}`,
    chain,
    agentId,
    key: storableText(key.toString(), maxEntryLength),
    value: value.subarray(0, maxEntryLength),
    blockNumber,
    logIndex,
    blockTimestamp,
    txHash,
  })
}

const addressBytes = 20
const wordBytes = 32
const padding = Buffer.alloc(wordBytes - addressBytes)

/**
 * The address in a value of `agentWallet`: twenty bytes, or the same in a 32-byte ABI word. Null: unset (empty), or
 * bytes that hold no address.
 */
export function toWallet(value: Buffer): Buffer | null {
  if (value.length === addressBytes) return value
  if (value.length === wordBytes && value.subarray(0, padding.length).equals(padding)) {
    return value.subarray(padding.length)
  }
  return null
}
