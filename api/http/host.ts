import type { Socket } from 'node:net'
import type { Request, RequestHandler } from 'express'
import { invalidRequest } from './errors.ts'

/** A valid Host header: a name or an address, optionally with a port. Source: RFC 3986, 3.2.2 and 3.2.3. */
const form = /^(\[[0-9a-f:.]+\]|([a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*)(:[0-9]{0,5})?$/i

/** Connections that end with the answer to a request whose Host was refused. */
const ending = new WeakSet<Socket>()

/**
 * The first middleware: judges Host before anything waits. A connection on which it is wrong ends with that answer, and
 * what was sent behind it is not executed: nobody can say where such a request ends and whose the next one is.
 */
export const judgeHost: RequestHandler = (req, res, next) => {
  if (ending.has(req.socket)) return
  const problem = problemOf(req)
  if (problem !== undefined) {
    ending.add(req.socket)
    res.setHeader('Connection', 'close')
    res.locals.hostProblem = problem
  }
  next()
}

/** Refuses what `judgeHost` has found wrong; behind the limiter, so that it counts as a request. */
export const requireHost: RequestHandler = (_req, res, next) => {
  const { hostProblem } = res.locals
  if (hostProblem !== undefined) throw invalidRequest('header Host', hostProblem)
  next()
}

/** What is wrong about HTTP/1.1 without Host, with two, or with an invalid one (RFC 9112, 3.2): proxies would disagree. */
function problemOf({ rawHeaders, httpVersion }: Request): string | undefined {
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return 'must be there once'
    host = rawHeaders[index + 1]
  }
  if (host === undefined) return httpVersion === '1.1' ? 'must be there' : undefined
  return isHost(host) ? undefined : 'must be a host, and maybe a port'
}

/** The last valid Host, which is not parsed again: clients use the same few names all the time. */
let lastHost: string | undefined
function isHost(host: string): boolean {
  if (host === lastHost) return true
  if (!form.test(host)) return false
  lastHost = host
  return true
}
