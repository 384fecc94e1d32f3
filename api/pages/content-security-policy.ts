import type { RequestHandler } from 'express'

/** Content-Security-Policy of a page: styles, pictures and scripts of this origin; no other origin, nothing inline. */
const page = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** Content-Security-Policy of a page whose script also sends requests, to this origin alone. */
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
/** Policy of the claim page: smart wallets open a popup and talk to the page through its opener. */
export const giveClaimPolicy = give(asking, 'same-origin-allow-popups')
