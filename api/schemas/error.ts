import { z } from 'zod'
import type { ErrorCode } from '../http/errors.ts'
import { address, count, fid, time } from './scalars.ts'

const seconds = count.meta({ description: 'Seconds; the same as the Retry-After header.' })
const method = z.string()
const nonce = z.string()
const mismatch = { expected_fid: fid.nullable(), actual_fid: fid.nullable() }
const clientLimits = { limits: z.strictObject({ perMinute: count, perDay: count }), retryAfterSeconds: seconds }

/** Fields in the body of each error code, besides `error` and `detail`. */
const fields = {
  ERR_NOT_FOUND: {},
  ERR_INTERNAL: {},
  ERR_FID_INVALID: {},
  ERR_ADDRESS_MALFORMED: {},
  ERR_PAYLOAD_INVALID: { fields: z.array(z.strictObject({ path: z.string(), problem: z.string() })) },
  ERR_METHOD_UNSUPPORTED: { supported: z.array(z.string()) },
  ERR_ADDRESS_NOT_VERIFIED: { fid, address, snapshot_at: time },
  ERR_FID_MISMATCH: mismatch,
  ERR_SIG_INVALID: {},
  ERR_SIG_EXPIRED: { timestamp: z.string(), server_time: time, window_seconds: count },
  ERR_NONCE_USED: {
    fid,
    method,
    nonce,
    replay: z.literal(true).optional(),
    original: z.record(z.string(), z.unknown()).optional(),
  },
  ERR_JFS_PAYLOAD_INVALID: {},
  ERR_JFS_KEY_INACTIVE: { fid, key: z.string() },
  ERR_JFS_FID_MISMATCH: mismatch,
  ERR_MANIFEST_FETCH_FAILED: { host: z.string() },
  ERR_MANIFEST_ADDRESS_UNVERIFIED: { fid, unverified: z.array(address) },
  ERR_RATE_LIMIT: clientLimits,
  ERR_RATE_LIMIT_DAILY: clientLimits,
  ERR_RATE_LIMITED: {
    limits: z.strictObject({ attempts: count, windowSeconds: count }),
    retryAfterSeconds: seconds,
  },
  ERR_RATE_LIMITER_UNAVAILABLE: { retryAfterSeconds: seconds },
} as const satisfies Record<ErrorCode, z.ZodRawShape>

const withoutDetail: readonly ErrorCode[] = ['ERR_INTERNAL', 'ERR_RATE_LIMITER_UNAVAILABLE']

/** The body of any error. */
interface ErrorBody {
  readonly error: ErrorCode
  readonly detail?: string
  readonly [field: string]: unknown
}

/** Names of the fields in the body of an error code, besides `error` and `detail`. */
export const errorFields = (code: ErrorCode): string[] => Object.keys(fields[code])

/** The body of an error with this code, exactly. */
export const errorSchemas = Object.fromEntries(
  Object.entries(fields).map(([code, own]) => [code, schemaOf(code as ErrorCode, own)]),
) as unknown as Record<ErrorCode, z.ZodType<ErrorBody>>

/** The body of any error, exactly. */
export const errorBody = z.union(Object.values(errorSchemas))

function schemaOf(code: ErrorCode, own: z.ZodRawShape) {
  const detail = z.string().optional().meta({ description: 'For people; says what would be right.' })
  return z
    .strictObject({
      error: z.literal(code).meta({ description: 'Clients switch on it.' }),
      ...(withoutDetail.includes(code) ? {} : { detail }),
      ...own,
    })
    .meta({ id: pascalCase(code) })
}

/** GET /api/errors/:code */
export const errorKind = z
  .strictObject({
    code: z.string(),
    status: z.int(),
    title: z.string(),
    when: z.string().meta({ description: 'When it is given.' }),
    retry: z.enum(['no', 'later', 'retry-after']).meta({
      description:
        'no: the request has to change; later: the same may succeed in a while; retry-after: after the seconds ' +
        'of the header Retry-After.',
    }),
    fields: z.array(z.string()).meta({ description: 'What it carries besides `error` and `detail`.' }),
    url: z.url().meta({ description: 'Its page; also the `type` of a problem (RFC 9457).' }),
  })
  .meta({ id: 'ErrorKind' })

/** GET /api/errors */
export const errorCatalogue = z.strictObject({ count, errors: z.array(errorKind) }).meta({ id: 'ErrorCatalogue' })

/** Name of a code's schema in openapi.json: `ERR_FID_INVALID` is FidInvalidError. */
function pascalCase(code: ErrorCode): string {
  const words = code.split('_').slice(1)
  return `${words.map((word) => word[0] + word.slice(1).toLowerCase()).join('')}Error`
}
