import type { RequestHandler } from 'express'
import { expressPath, type Operation } from '../http/route.ts'

/** Path of the page that lists every deprecation. */
const changelogPath = '/docs/changelog'

/**
 * Makes all answers of a deprecated request say so, errors too: `Deprecation` (RFC 9745, a structured date), `Sunset`
 * (RFC 8594, an HTTP date), and links to the notice and to the replacement. Must be called before its handler is
 * registered.
 */
export function giveDeprecation(
  app: Record<'get' | 'post' | 'delete', (path: string, handler: RequestHandler) => unknown>,
  operation: Operation & { readonly method?: 'get' | 'post' | 'delete' },
  baseUrl: string,
): void {
  const { deprecated, method = 'get' } = operation
  if (!deprecated) return
  const { since, sunset, successor } = deprecated
  const linksFor = (params: object) => [
    `<${baseUrl}${changelogPath}>; rel="deprecation"; type="text/html"`,
    `<${baseUrl}${changelogPath}>; rel="sunset"; type="text/html"`,
    ...(successor === undefined ? [] : [`<${baseUrl}${filled(successor, params)}>; rel="successor-version"`]),
  ]
  app[method](expressPath(operation), (req, res, next) => {
    res.setHeader('Deprecation', `@${Date.parse(since) / 1_000}`)
    res.setHeader('Sunset', new Date(sunset).toUTCString())
    res.setHeader('Link', linksFor(req.params).join(', '))
    res.setHeader('Access-Control-Expose-Headers', exposed(res.getHeader('Access-Control-Expose-Headers')))
    next()
  })
}

const exposed = (names: unknown) => [names, 'Link, Deprecation, Sunset'].filter(Boolean).join(', ')

const filled = (path: string, params: object) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name as never])))
