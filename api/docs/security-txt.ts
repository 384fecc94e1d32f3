import { type RequestHandler, Router } from 'express'
import { day } from '../../ops/time.ts'
import { answerAlways } from '../http/answer.ts'
import { Content } from '../http/content.ts'
import { refuseMethod } from '../http/error-answer.ts'

/** Where vulnerabilities are reported. */
export interface SecurityContact {
  /** URI of the contact: mailto:, https: or tel:. */
  readonly contact: string
  /** URL of the security policy; absent: none is named. */
  readonly policy?: string | undefined
}

const path = '/.well-known/security.txt'
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
    const today = Math.floor(now() / day)
    if (!content || today !== ofDay) {
      const expires = new Date((today + validDays) * day).toISOString()
      content = new Content('text/plain; charset=utf-8', Buffer.from(textOf(said, baseUrl, expires)))
      ofDay = today
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
