import { type Hex, hashMessage } from 'viem'
import { z } from 'zod'
import { encodedSignature, signedByKey } from '../trust/key-signature.ts'
import { JsonProblem, parseStrictJson } from '../trust/strict-json.ts'
import type { Registries } from './key-registry.ts'
import type { Wallets } from './wallets.ts'

const text = z.string().min(1)
const association = z.object({ header: text, payload: text, signature: text })
const header = z.object({
  fid: z.int().positive(),
  type: z.enum(['custody', 'auth']),
  key: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/)
    .toLowerCase(),
})
const payload = z.object({ domain: z.string() })

/** The registries and contract wallets that the check of an account's own signatures asks. */
export interface AccountWorld {
  readonly registries: Pick<Registries, 'chain' | 'isCustody' | 'isAuthAddress'>
  readonly wallets: Wallets
}

/** Longest header, payload or signature of an account association, in characters. */
export interface AssociationBound {
  readonly associationCharacters: number
}

/**
 * Whether a domain manifest's account association says that `host` belongs to `fid`, and is signed by the fid's
 * custody address or one of its auth addresses, which must have been added after `transferBlock`. False for a value that
 * is no association at all. Throws when a chain has to be asked and does not answer.
 *
 * Source: Farcaster mini apps, "accountAssociation", a JSON Farcaster Signature with EIP-191 signatures.
 */
export async function isAssociated(
  value: unknown,
  { fid, host, transferBlock }: Pick<AccountSignature, 'fid' | 'transferBlock'> & { host: string },
  { registries, wallets, associationCharacters }: AccountWorld & AssociationBound,
): Promise<boolean> {
  const parts = association.safeParse(value)
  if (!parts.success) return false
  if (Object.values(parts.data).some((part) => part.length > associationCharacters)) return false
  const head = header.safeParse(parseSegment(parts.data.header))
  const body = payload.safeParse(parseSegment(parts.data.payload))
  const signature = encodedSignature(parts.data.signature)
  if (!head.success || !body.success || !signature) return false
  if (head.data.fid !== fid || body.data.domain.toLowerCase() !== host) return false
  const signed = `${parts.data.header}.${parts.data.payload}`
  return isSignedByAccount({ ...head.data, transferBlock, signed, signature }, { registries, wallets })
}

/** Whether `key` signed a text (EIP-191) and is the account's custody address, or one of its auth addresses. */
export async function isSignedByAccount(
  { fid, type, key, signed, signature, transferBlock }: AccountSignature,
  { registries, wallets }: AccountWorld,
): Promise<boolean> {
  const address = key as Hex
  const hash = hashMessage(signed)
  const wallet = { address, chainId: registries.chain.id }
  const isSigned =
    (await signedByKey(address, hash, signature)) || (await wallets.signedByContract(wallet, hash, signature))
  if (!isSigned) return false
  return type === 'custody' ? registries.isCustody(fid, address) : registries.isAuthAddress(fid, address, transferBlock)
}

interface AccountSignature {
  readonly fid: number
  readonly type: 'custody' | 'auth'
  /** Address that should have signed: lowercase, 0x and 40 hex digits. */
  readonly key: string
  readonly signed: string
  readonly signature: Hex
  /** Block of the fid's last transfer or recovery, up to which auth addresses are a former owner's; null: there was none. */
  readonly transferBlock: number | null
}

function parseSegment(segment: string): unknown {
  try {
    return parseStrictJson(Buffer.from(segment, 'base64url'))
  } catch (error) {
    if (error instanceof JsonProblem) return undefined
    throw error
  }
}
