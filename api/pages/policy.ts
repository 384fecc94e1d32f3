import type { RequestHandler } from 'express'

/**
 * What a page may load: its own style sheet, and images of agents from wherever they are, which learn nothing of where
 * their viewer comes from. Nothing else, no script at all.
 */
const page = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** A page that does more with scripts has one of ours, which talks to this service alone. */
const scripted = [...page, "script-src 'self'", "connect-src 'self'"]

const give =
  (policy: readonly string[], opener = 'same-origin'): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Content-Security-Policy', policy.join('; '))
    res.setHeader('Referrer-Policy', 'no-referrer')
    res.setHeader('Cross-Origin-Opener-Policy', opener)
    next()
  }

export const givePagePolicy = give(page)
export const giveScriptPolicy = give(scripted)
/** Smart wallets open a window of theirs and talk to the page through it. */
export const giveClaimPolicy = give(scripted, 'same-origin-allow-popups')
