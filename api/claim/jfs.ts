import { ed25519 } from '@noble/curves/ed25519.js'
import type { Hex } from 'viem'
import { z } from 'zod'
import { isSignedByAccount } from '../../social/account-association.ts'
import type { ClaimAction } from '../../trust/claim-text.ts'
import { encodedSignature } from '../../trust/key-signature.ts'
import { JsonProblem, parseStrictJson } from '../../trust/strict-json.ts'
import { ApiError } from '../http/errors.ts'
import { custodyChange } from './grounds.ts'
import { type ClaimWorld, type Decode, endpointOf, nonceText, parseFields } from './proof-method.ts'
import { parseTimestamp, timestampText } from './timestamp.ts'
import { verifiedSet } from './verified-set.ts'

/** Form of the header's `key` by its type: an Ed25519 public key (RFC 8032) for app keys, else an address. */
const keyForms = { app_key: /^0x[0-9a-fA-F]{64}$/, custody: /^0x[0-9a-fA-F]{40}$/, auth: /^0x[0-9a-fA-F]{40}$/ }
type KeyType = keyof typeof keyForms

/** Types of keys whose signature each action accepts; custody and auth addresses can undo an app key's claim. */
const signersOf: Readonly<Record<ClaimAction, readonly [KeyType, ...KeyType[]]>> = {
  claim: ['app_key'],
  withdraw: ['app_key', 'custody', 'auth'],
  unlist: ['custody'],
  relist: ['custody'],
  webhook: ['app_key', 'custody'],
}

const request = z.object({
  jfs: z.union(
    [z.string(), z.object({ header: z.string(), payload: z.string(), signature: z.string() })],
    'must be header.payload.signature, or an object of the three',
  ),
})

const headerOf = (types: readonly [KeyType, ...KeyType[]]) =>
  z
    .strictObject({
      fid: z.int('must be an integer').positive('must be positive'),
      type: z.enum(types, `must be ${types.join(' or ')}: other signatures are not taken`),
      key: z.string('must be a string').toLowerCase(),
    })
    .refine(({ type, key }) => keyForms[type].test(key), {
      path: ['key'],
      error: 'must be 0x and 64 hex digits, those of an address 40',
    })

/** A field that nothing checks would be kept, and shown in the proof, for good: unknown ones are refused. */
const payload = z.strictObject({
  aud: z.string('must be a string'),
  action: z.string('must be a string'),
  fid: z.int('must be an integer').positive('must be positive'),
  nonce: nonceText,
  timestamp: timestampText,
})
/** Of a webhook: it names the endpoint, too. */
const payloadOfWebhook = payload.extend({ url: z.string('must be a string') })

/**
 * A JSON Farcaster Signature of an active app key. The format says nothing about whom a token is for, and apps' servers
 * receive many: so the payload has to name this service and this action.
 *
 * Source: Farcaster protocol discussion 208.
 */
export const decodeJfs: Decode = (body, fid, world, wanted) => {
  const { jfs } = parseFields(request, body)
  const segments = typeof jfs === 'string' ? jfs.split('.') : [jfs.header, jfs.payload, jfs.signature]
  if (segments.length !== 3) throw invalid('must have exactly three segments, header.payload.signature')
  const [headerBytes, payloadBytes, signature] = segments.map(decodeSegment) as [Buffer, Buffer, Buffer]
  const { fid: headerFid, type, key } = parsePart('header', headerOf(signersOf[wanted]), headerBytes)
  const said = wanted === 'webhook' ? payloadOfWebhook : payload
  const { aud, action, fid: payloadFid, nonce, timestamp, ...more } = parsePart('payload', said, payloadBytes)
  for (const actual of [headerFid, payloadFid]) {
    if (actual === fid) continue
    const fields = { expected_fid: fid, actual_fid: actual }
    throw new ApiError('ERR_JFS_FID_MISMATCH', `the token is for fid ${actual}, the request for ${fid}`, fields)
  }
  if (aud !== world.baseUrl) throw invalid(`payload.aud must be ${world.baseUrl}`)
  if (action !== wanted) throw invalid(`payload.action must be ${wanted}`)
  if (wanted === 'webhook' && (more as { url?: string }).url !== endpointOf(body))
    throw invalid('payload.url must be url')
  // An address's signature in another form of the same bytes is the same proof; an app key's has one form.
  const byAddress = type === 'app_key' ? undefined : encodedSignature(segments[2] as string)
  const token = byAddress ? inOneForm(segments, byAddress) : segments.join('.')
  return {
    nonce,
    timestamp,
    identity: JSON.stringify(['jfs', fid, token]),

    async verify() {
      const said = {
        proof: { jfs: byAddress ? token : jfs },
        signer: key,
        signedAt: parseTimestamp(timestamp),
        hostLink: null,
        manifestSha256: null,
      }
      if (type !== 'app_key') {
        const transfer = await custodyChange(world, fid)
        const transferBlock = transfer?.block ?? null
        const account = { fid, type, key, transferBlock, signed: `${segments[0]}.${segments[1]}` }
        if (!byAddress || !(await isSignedByAccount({ ...account, signature: byAddress }, world))) {
          const since = transfer && type === 'auth' ? ', added after it was last transferred' : ''
          throw new ApiError(
            'ERR_SIG_INVALID',
            `the signature must be made by the ${type} address of fid ${fid}${since}`,
          )
        }
        return { ...said, verifiedAddresses: [], byCustody: type === 'custody' }
      }
      await requireAppKey(world, { fid, key, signature, signed: Buffer.from(`${segments[0]}.${segments[1]}`, 'ascii') })
      const verifiedAddresses = wanted === 'claim' ? await verifiedSet(world, fid) : []
      return { ...said, verifiedAddresses, byCustody: false }
    },
  }
}

/** Throws a refusal unless an active app key of the account made the signature, added since it was last transferred. */
async function requireAppKey(
  world: ClaimWorld,
  { fid, key, signature, signed }: { fid: number; key: string; signature: Buffer; signed: Buffer },
): Promise<void> {
  if (!signedByKey(signature, signed, key)) {
    throw new ApiError('ERR_SIG_INVALID', 'the signature must be the header key’s, over header.payload')
  }
  if (!(await world.registries.isActiveAppKey(fid, key as Hex))) {
    throw new ApiError('ERR_JFS_KEY_INACTIVE', `the key must be an active app key of fid ${fid}`, { fid, key })
  }
  const transfer = await custodyChange(world, fid)
  if (transfer && !(await world.registries.addedAppKeyAfter(fid, key as Hex, transfer.block))) {
    const detail = `the key must have been added after fid ${fid} was last transferred`
    throw new ApiError('ERR_JFS_KEY_INACTIVE', detail, { fid, key })
  }
}

const inOneForm = ([header, payload]: readonly string[], signature: Hex) =>
  `${header}.${payload}.${Buffer.from(signature.slice(2), 'hex').toString('base64url')}`

/** Decodes base64url strictly, one text for the same bytes: Buffer ignores padding, foreign characters, unused bits. */
function decodeSegment(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (text === '' || bytes.toString('base64url') !== text) throw invalid('must be base64url without padding')
  return bytes
}

function parsePart<S extends z.ZodType>(name: string, schema: S, bytes: Buffer): z.output<S> {
  const parsed = schema.safeParse(parseJson(name, bytes))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw invalid(`${[name, ...(issue?.path ?? [])].join('.')} ${issue?.message}`)
}

function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof JsonProblem) throw invalid(`${name} ${error.message}`)
    throw error
  }
}

function invalid(problem: string): ApiError {
  return new ApiError('ERR_JFS_PAYLOAD_INVALID', `jfs: ${problem}`)
}

/** Verifies Ed25519 strictly by RFC 8032: under ZIP 215 a key of small order would sign everything. */
function signedByKey(signature: Buffer, signed: Buffer, key: string): boolean {
  try {
    return ed25519.verify(signature, signed, Buffer.from(key.slice(2), 'hex'), { zip215: false })
  } catch {
    return false // a wrong length, or no point of the curve
  }
}
