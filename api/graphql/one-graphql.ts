import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Lets every package of PostGraphile load the same copy of `graphql`.
 *
 * Another dependency holds version 15 at the top of node_modules, so that npm puts a copy of version 16 below each
 * package that wants it; a schema made with one copy is foreign to the next. Call before anything imports
 * `postgraphile`. Calling it twice does no harm.
 */
export function unifyGraphql(): void {
  const anchor = createRequire(import.meta.url).resolve('postgraphile')
  const fromAnchor = createRequire(anchor)
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context
      const nested =
        /^graphql(\/|$)/.test(specifier) && wants16.test(parentURL) && parentURL !== pathToFileURL(anchor).href
      return next(nested ? fromAnchor.resolve(specifier) : specifier, context)
    },
  })
}

/** Packages of PostGraphile, some with a copy of their own. */
const wants16 = /\/node_modules\/(postgraphile|graphile-build|graphile-build-pg|graphile-utils|grafast|grafserv|ruru)\//
