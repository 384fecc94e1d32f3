import { type RequestHandler, Router } from 'express'
import { answerAlways } from '../http/answer.ts'
import { Content } from '../http/content.ts'
import { refuseMethod } from '../http/method.ts'

/** Where vulnerabilities are reported. */
export interface SecurityContact {
  /** URI of the contact: mailto:, https: or tel:. */
  readonly contact: string
  /** URL of the security policy; absent: none is named. */
  readonly policy?: string | undefined
}

const path = '/.well-known/security.txt'
const dayMs = 86_400_000
/** RFC 9116 recommends less than a year. */
const validDays = 180
const maxAgeSeconds = 3_600

/** /.well-known/security.txt (RFC 9116): it expires half a year after the day it is asked for. */
export function securityRoutes(
  said: SecurityContact,
  { baseUrl, now }: { baseUrl: string; now: () => number },
): Router {
  let ofDay = -1
  let content: Content | undefined
  const give: RequestHandler = (req, res, next) => {
    const day = Math.floor(now() / dayMs)
    if (!content || day !== ofDay) {
      const expires = new Date((day + validDays) * dayMs).toISOString()
      content = new Content('text/plain; charset=utf-8', Buffer.from(textOf(said, baseUrl, expires)))
      ofDay = day
    }
    return answerAlways(content, maxAgeSeconds)(req, res, next)
  }
  const router = Router({ caseSensitive: true })
  router.get(path, give)
  router.all(path, refuseMethod(['GET', 'HEAD']))
  return router
}

function textOf({ contact, policy }: SecurityContact, baseUrl: string, expires: string): string {
  const fields = [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    `Canonical: ${baseUrl}${path}`,
    'Preferred-Languages: en',
  ]
  return `${[...fields, ...(policy ? [`Policy: ${policy}`] : [])].join('\n')}\n`
}
