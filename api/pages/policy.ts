import type { RequestHandler } from 'express'

/** What a page may load: its style sheet, pictures and scripts, all from here. Nothing of anybody else, nothing inline. */
const page = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** A page whose script asks for more, of this service alone. */
const asking = [...page, "connect-src 'self'"]

const give =
  (policy: readonly string[], opener = 'same-origin'): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Content-Security-Policy', policy.join('; '))
    res.setHeader('Referrer-Policy', 'no-referrer')
    res.setHeader('Cross-Origin-Opener-Policy', opener)
    next()
  }

export const givePagePolicy = give(page)
export const giveAskingPolicy = give(asking)
/** Smart wallets open a window of theirs and talk to the page through it. */
export const giveClaimPolicy = give(asking, 'same-origin-allow-popups')
