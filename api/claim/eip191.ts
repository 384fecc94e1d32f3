import { type Hex, hashMessage } from 'viem'
import { z } from 'zod'
import { chainNames, chainOf, socialChain } from '../../config/chains.ts'
import { claimLimits } from '../../config/limits.claims.ts'
import { liveGroundsOf } from '../../db/queries/claims/grounds.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { createGroundsJudge } from '../../social/grounds/judge.ts'
import { contractChainIdOf, isOfKnownType } from '../../social/messages.ts'
import { claimMessage } from '../../trust/claim-text.ts'
import { canonicalSignature, signedByKey } from '../../trust/key-signature.ts'
import { ApiError } from '../http/errors.ts'
import { refusals } from '../http/parameters.ts'
import { groundsWorld } from './grounds.ts'
import { type ClaimWorld, type Decode, endpointOf, invalidFields, nonceText, parseFields } from './proof-method.ts'
import { parseTimestamp, timestampText } from './timestamp.ts'
import { addressesOf, verificationsOf } from './verified-set.ts'

const chainIds = () => chainNames.map((name) => chainOf(name).id)

const isChainId = (id: number) => chainIds().includes(id)

/** Id of the chain with the social network's contracts. */
export const defaultChainId = () => socialChain().id

const shape = z.object({
  address: z.string('must be a string'),
  nonce: nonceText,
  timestamp: timestampText,
  chain_id: z
    .number({ error: () => `must be one of ${chainIds().join(', ')}` })
    .refine(isChainId, { error: () => `must be one of ${chainIds().join(', ')}` })
    .default(defaultChainId),
  signature: z
    .string('must be a string')
    .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and hex digits, two a byte')
    .max(2 + 2 * claimLimits.signatureBytes, `must be at most ${claimLimits.signatureBytes} bytes`)
    .transform((hex) => canonicalSignature(hex as Hex)),
})

/**
 * A signature, made with a verified address, over the text that the server builds from the other fields: by the
 * address's key where the network verified a key, by the contract on its own chain where it verified a contract wallet.
 */
export const decodeEip191: Decode = (body, fid, world, action) => {
  const { address: given, nonce, timestamp, chain_id: chainId, signature } = parseFields(shape, body)
  if (!/^0x[0-9a-fA-F]{40}$/.test(given)) throw refusals.address()
  const address = given.toLowerCase() as Hex
  const url = action === 'webhook' ? endpointOf(body) : undefined
  return {
    nonce,
    timestamp,
    identity: JSON.stringify([
      'eip191',
      fid,
      address,
      nonce,
      timestamp,
      chainId,
      signature.toLowerCase(),
      ...(url === undefined ? [] : [url]),
    ]),

    async verify() {
      const { notByKey, notVerified } = refusalsOf(fid, address, world.now())
      const hash = hashMessage(claimMessage(world, { fid, address, chainId, nonce, timestamp, url }, action))
      const byKey = await signedByKey(address, hash, signature)
      const signed = { fid, address, chainId, hash, signature, byKey }
      // Only a contract wallet can have made it now; what the index does not know at all may be one since a moment ago.
      const stored = byKey ? undefined : await storedHome(world, fid, address)
      if (stored === null) throw notByKey()
      const proof = { address: given, nonce, timestamp, chain_id: chainId, signature }
      const said = { proof, signer: address, signedAt: parseTimestamp(timestamp), hostLink: null, manifestSha256: null }
      if (action !== 'claim' && (await isCustody(world, signed))) {
        return { ...said, verifiedAddresses: [], byCustody: true }
      }
      if (action === 'unlist' || action === 'relist') {
        if (!byKey) throw notByKey()
        throw notVerified(`only the custody address of fid ${fid} may say that, with its own signature`)
      }
      const verifications = await signersVerifications(world, signed, stored)
      return { ...said, verifiedAddresses: addressesOf(verifications), byCustody: false }
    },
  }
}

/** The refusals of a signature, by what is wrong with it. */
function refusalsOf(fid: number, address: Hex, now: number) {
  const notSigned = (who: string) =>
    new ApiError('ERR_SIG_INVALID', `the signature must be made by ${who} over the challenge's text`)
  return {
    notSigned,
    notByKey: () => notSigned(`the key of ${address}`),
    notVerified: (detail: string) =>
      new ApiError('ERR_ADDRESS_NOT_VERIFIED', detail, { fid, address, snapshot_at: new Date(now).toISOString() }),
  }
}

interface SignedText {
  readonly fid: number
  readonly address: Hex
  readonly chainId: number
  readonly hash: Hex
  readonly signature: Hex
  /** Whether the key of the address made the signature. */
  readonly byKey: boolean
}

/**
 * The verified addresses of an account, one of which signed. `stored`: chain of the contract wallet that the index knows
 * the address as. Throws a refusal when it is not verified, did not sign or cannot carry a claim.
 */
async function signersVerifications(
  world: ClaimWorld,
  { fid, address, chainId, hash, signature, byKey }: SignedText,
  stored: number | undefined,
) {
  const { notByKey, notSigned, notVerified } = refusalsOf(fid, address, world.now())
  // Key or contract, and on which chain, is taken from the network: the claimant must not choose whom we ask.
  const verifications = await verificationsOf(world, fid).catch((error: unknown) => {
    // An outage makes no contract wallet of an address that nobody knows as one.
    throw error instanceof NoAnswer && !byKey && stored === undefined ? notByKey() : error
  })
  const verification = verifications.find((one) => one.address === address)
  const home = verification ? verification.contractChainId : (stored ?? null)
  const isOfUnknownType = verification !== undefined && !isOfKnownType(verification.message)
  if (!byKey && (home === null || isOfUnknownType)) throw notByKey()
  if (!verification) throw notVerified(`fid ${fid} must verify ${address} first`)
  if (isOfUnknownType || (home !== null && !isChainId(home))) {
    throw notVerified(`${address} is verified for fid ${fid} in a way that nobody can be asked about here`)
  }
  if (home !== null && home !== chainId) {
    const problem = `must be ${home}, the chain that ${address} is verified on`
    throw invalidFields([{ path: 'chain_id', problem }])
  }
  if (home !== null && !(await world.wallets.signedByContract({ address, chainId: home }, hash, signature))) {
    throw notSigned(`the contract wallet ${address} on chain ${home}`)
  }
  const weakness = await createGroundsJudge(fid, verifications, groundsWorld(world)).weaknessOf(address)
  if (weakness) throw notVerified(`${address} cannot carry a claim of fid ${fid}: ${weakness.why}`)
  return verifications
}

/** Chain of the contract wallet that the index knows the address as; null: a key; undefined: it knows neither. */
async function storedHome({ database }: ClaimWorld, fid: number, address: Hex): Promise<number | null | undefined> {
  const ground = (await liveGroundsOf(database, fid)).find((one) => one.address === address)
  return ground?.message ? contractChainIdOf(ground.message) : undefined
}

/** Whether the text is signed by the custody address of the FID, a key or a contract on the registries' chain. */
async function isCustody(
  { registries, wallets }: ClaimWorld,
  { fid, address, chainId, hash, byKey, signature }: SignedText,
): Promise<boolean> {
  if (!registries.canAnswer || !(await registries.isCustody(fid, address))) return false
  if (byKey) return true
  return chainId === defaultChainId() && wallets.signedByContract({ address, chainId }, hash, signature)
}
