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

/** The page that can sign with a wallet in the browser has one script of ours, which talks to this service alone. */
const scripted = [...page, "script-src 'self'", "connect-src 'self'"]

const give =
  (policy: readonly string[]): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Content-Security-Policy', policy.join('; '))
    res.setHeader('Referrer-Policy', 'no-referrer')
    res.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
    next()
  }

export const givePagePolicy = give(page)
export const giveScriptPolicy = give(scripted)
