import type { Hex } from 'viem'
import { z } from 'zod'
import { chainNames, chains } from '../../chains.config.ts'
import { ApiError } from '../http/errors.ts'
import { refusals } from '../http/parameters.ts'
import { claimMessage } from './message.ts'
import { parseTimestamp } from './timestamp.ts'
import { type Decode, nonceText, parseFields, timestampText, verifiedSet } from './verifier.ts'

/** Optimism, where the social network's contracts are. */
export const defaultChainId = 10
const chainIds = chainNames.map((name) => chains[name].id)
/** Signatures of passkey wallets take about 1 KiB, of undeployed ones several. */
const mostSignatureBytes = 6_144

const shape = z.object({
  address: z.string('must be a string'),
  nonce: nonceText,
  timestamp: timestampText,
  chain_id: z.literal(chainIds, `must be one of ${chainIds.join(', ')}`).default(defaultChainId),
  signature: z
    .string('must be a string')
    .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and hex digits, two a byte')
    .max(2 + 2 * mostSignatureBytes, `must be at most ${mostSignatureBytes} bytes`),
})

/** A signature, made with a verified address, over the text that the server builds from the other fields. */
export const decodeEip191: Decode = (body, fid, world) => {
  const { address: given, nonce, timestamp, chain_id: chainId, signature } = parseFields(shape, body)
  if (!/^0x[0-9a-fA-F]{40}$/.test(given)) throw refusals.address()
  const address = given.toLowerCase() as Hex
  return {
    nonce,
    timestamp,
    identity: JSON.stringify(['eip191', fid, address, nonce, timestamp, chainId, signature.toLowerCase()]),

    async verify() {
      const text = claimMessage(world, { fid, address, chainId, nonce, timestamp })
      if (!(await world.wallets.signed({ address, chainId }, text, signature as Hex))) {
        throw new ApiError('ERR_SIG_INVALID', `the signature must be made by ${address} over the challenge's text`)
      }
      const verifiedAddresses = await verifiedSet(world, fid)
      if (!verifiedAddresses.includes(address)) {
        throw new ApiError('ERR_ADDRESS_NOT_VERIFIED', `fid ${fid} must verify ${address} first`, {
          fid,
          address,
          snapshot_at: new Date(world.now()).toISOString(),
        })
      }
      return {
        proof: { address: given, nonce, timestamp, chain_id: chainId, signature },
        signer: address,
        signedAt: parseTimestamp(timestamp),
        verifiedAddresses,
        hostLink: null,
      }
    },
  }
}
