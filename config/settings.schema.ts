import { z } from 'zod'
import { parseEgressAllow } from '../net/egress.ts'
import { maxUrlLength } from '../net/target.ts'

// Schemas of the values of settings. An error message is printed after the variable's name.

/** An http(s) address, returned without trailing slashes. Rows name hubs by it, and an index takes no longer text. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))
  .refine((url) => url.length <= maxUrlLength, `must have at most ${maxUrlLength} characters once it is encoded`)
/** How to reach a person: an https:, mailto: or tel: address. */
export const contactUrl = z
  .url({ protocol: /^(https|mailto|tel)$/, error: 'must be an https:, mailto: or tel: address' })
  .regex(/^[\x21-\x7e]+$/, 'must be printable and without blanks')
/** Address of a chain's node, http(s) or ws(s). Kept exactly as written: it may contain a key. */
export const nodeUrl = z.url({ protocol: /^(https?|wss?)$/, error: 'must be an http(s) or ws(s) address' })
export const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must be postgres://user:password@host:port/database',
})
export const redisUrl = z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// address' })
export const text = z.string()
/** A key or password: the printable ASCII characters that an HTTP header may hold. */
export const keyText = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable and without blanks')
/** A secret that others are derived from. */
export const longSecret = keyText.min(32, 'must have at least 32 characters')
export const serviceName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lowercase letters, digits and hyphens, at most 63')
export const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be an integer from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be an integer from ${minimum} to ${maximum}`)
/** A TCP port to listen on; 0: any free port. */
export const port = whole(0, 65_535)
/** A number of seconds within the bounds, fractions allowed. */
export const seconds = (minimum: number, maximum: number) => {
  const problem = `must be a number of seconds from ${minimum} to ${maximum}`
  return z
    .string()
    .regex(/^\d+(\.\d+)?$/, problem)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, problem)
}
export const oneOf = <const T extends string>(...words: T[]) => z.enum(words, `must be ${words.join(' or ')}`)
export const level = z.enum(
  ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
  'must be a level of pino, such as info',
)
const mostUrls = 10
export const httpUrls = z
  .string()
  .transform((list) => list.split(/[\s,]+/).filter((url) => url !== ''))
  .pipe(z.array(httpUrl).max(mostUrls, `must be ${mostUrls} addresses at most`))
/** Addresses of hubs, separated by blanks or commas; at least one. */
export const hubUrls = httpUrls.refine((urls) => urls.length > 0, { error: 'must name a hub' })
/** Most witnesses of the log: each is a line of its checkpoint, and readers take some dozen lines. */
const mostWitnesses = 8
/** Witnesses of the transparency log, each as its key, an at sign and its address. */
export const logWitnesses = z
  .string()
  .transform((list, context) =>
    list
      .split(/[\s,]+/)
      .filter((one) => one !== '')
      .map((one) => {
        const [, key = '', address] = /^([^\s+@]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2})@(.+)$/.exec(one) ?? []
        const url = httpUrl.safeParse(address)
        if (url.success) return { key, url: url.data }
        context.addIssue({ code: 'custom', message: `must have KEY@URL in place of ${one}` })
        return z.NEVER
      }),
  )
  .refine((witnesses) => witnesses.length <= mostWitnesses, `must be ${mostWitnesses} witnesses at most`)
export const egressAllow = z.string().transform((list, context) => {
  try {
    return parseEgressAllow(list)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message.replace(/^EGRESS_ALLOW: /, '') })
    return z.NEVER
  }
})
