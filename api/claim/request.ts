import { JsonProblem, parseStrictJson } from '../../trust/strict-json.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { refusals } from '../http/parameters.ts'
import { decodeEip191 } from './eip191.ts'
import { decodeJfs } from './jfs.ts'
import type { ClaimBody, Decode } from './proof-method.ts'
import { decodeWellKnown } from './well-known.ts'

/** Decoders of the accepted methods of proof, by method. */
export const methods = {
  eip191: decodeEip191,
  jfs: decodeJfs,
  'well-known': decodeWellKnown,
} as const satisfies Record<string, Decode>

export type ClaimMethod = keyof typeof methods
export const claimMethods: readonly ClaimMethod[] = ['eip191', 'jfs', 'well-known']

interface ClaimRequest {
  readonly method: ClaimMethod
  readonly fid: number
  readonly body: ClaimBody
}

/** Reads and checks method and FID of a JSON body, in this order; the header may have the FID. Throws ApiError. */
export function readRequest(
  bytes: Uint8Array,
  fidHeader: string | undefined,
  supported: readonly ClaimMethod[] = claimMethods,
): ClaimRequest {
  const body = readObject(bytes)
  return { method: readMethod(body, supported), fid: readFid(body, fidHeader), body }
}

function readObject(bytes: Uint8Array): ClaimBody {
  const value = readJsonBody(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest('body', 'must be a JSON object')
  }
  return value as ClaimBody
}

function readMethod({ method }: ClaimBody, supported: readonly ClaimMethod[]): ClaimMethod {
  if (typeof method !== 'string') throw invalidRequest('method', `must be one of ${supported.join(', ')}`)
  const known = supported.find((name) => name === method)
  if (known) return known
  throw new ApiError('ERR_METHOD_UNSUPPORTED', `method must be one of ${supported.join(', ')}`, {
    supported,
  })
}

function readFid(body: ClaimBody, header: string | undefined): number {
  const inHeader = header === undefined ? undefined : fidOf(/^[0-9]+$/.test(header) ? Number(header) : undefined)
  const inBody = 'fid' in body ? fidOf(body.fid) : undefined
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody) {
    const fields = { expected_fid: inHeader, actual_fid: inBody }
    throw new ApiError('ERR_FID_MISMATCH', 'the header X-FID and the body must name the same fid', fields)
  }
  const fid = inHeader ?? inBody
  if (fid === undefined) throw invalidRequest('fid', 'must be given, in the body or in the header X-FID')
  return fid
}

function fidOf(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) throw refusals.fid()
  return value as number
}

/** The JSON in the bytes of a body; anything but bytes counts as an empty body. Throws ERR_PAYLOAD_INVALID. */
export function readJsonBody(bytes: unknown): unknown {
  try {
    return parseStrictJson(bytes instanceof Uint8Array ? bytes : new Uint8Array())
  } catch (error) {
    if (error instanceof JsonProblem) throw invalidRequest('body', error.message)
    throw error
  }
}
