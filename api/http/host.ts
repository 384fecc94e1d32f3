import type { RequestHandler } from 'express'
import { invalidRequest } from './errors.ts'

/** A valid Host header: a name or an address, optionally with a port. Source: RFC 3986, 3.2.2 and 3.2.3. */
const form = /^(\[[0-9a-f:.]+\]|([a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*)(:[0-9]{0,5})?$/i

/** Refuses HTTP/1.1 without Host, with two, or with an invalid one (RFC 9112, 3.2): proxies would disagree about them. */
export const requireHost: RequestHandler = (req, _res, next) => {
  const { rawHeaders } = req
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) throw invalidRequest('header Host', 'must be there once')
    host = rawHeaders[index + 1]
  }
  if (host === undefined && req.httpVersion === '1.1') throw invalidRequest('header Host', 'must be there')
  if (host !== undefined && !isHost(host)) throw invalidRequest('header Host', 'must be a host, and maybe a port')
  next()
}

/** The last valid Host, which is not parsed again: clients use the same few names all the time. */
let lastHost: string | undefined
function isHost(host: string): boolean {
  if (host === lastHost) return true
  if (!form.test(host)) return false
  lastHost = host
  return true
}
