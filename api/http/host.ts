import type { RequestHandler } from 'express'
import { invalidRequest } from './errors.ts'

/** A name or an address, and maybe a port. Source: RFC 3986, 3.2.2 and 3.2.3. */
const form = /^(\[[0-9a-f:.]+\]|([a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*)(:[0-9]{0,5})?$/i

/** Refuses HTTP/1.1 without Host, with two, or with one that is none (RFC 9112, 3.2): proxies would differ on whose it is. */
export const requireHost: RequestHandler = (req, _res, next) => {
  const hosts = req.rawHeaders.filter(
    (_text, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host',
  )
  if (hosts.length > 1) throw invalidRequest('header Host', 'must be there once')
  const [host] = hosts
  if (host === undefined && req.httpVersion === '1.1') throw invalidRequest('header Host', 'must be there')
  if (host !== undefined && !form.test(host)) throw invalidRequest('header Host', 'must be a host, and maybe a port')
  next()
}
