import { type RequestHandler, Router } from 'express'

/**
 * Routes by how their paths begin: a request is compared with those alone that could be meant, and an error passes all
 * of them by at once. Comparing with each of a hundred costs more than answering from memory.
 */
export class Dispatch {
  readonly #groups = new Map<string, Router>()

  /** Where a path, as Express writes it, is to be registered. */
  at(path: string): Router {
    const [, first, second] = path.split('/')
    const isFixed = second !== undefined && !second.includes(':')
    const beginning = isFixed ? `/${first}/${second}` : `/${first}`
    const group = this.#groups.get(beginning) ?? Router({ caseSensitive: true })
    this.#groups.set(beginning, group)
    return group
  }

  /** To be mounted once. */
  readonly handle: RequestHandler = (req, res, next) => {
    const { path } = req
    const firstEnd = endOf(path, 1)
    const near = this.#groups.get(path.slice(0, endOf(path, firstEnd + 1)))
    const wide = this.#groups.get(path.slice(0, firstEnd))
    const widely = wide && wide !== near ? () => wide(req, res, next) : next
    if (near) near(req, res, (error?: unknown) => (error ? next(error) : widely()))
    else widely()
  }
}

/** Where the segment that begins at a place ends. */
function endOf(path: string, begin: number): number {
  const slash = path.indexOf('/', begin)
  return slash < 0 ? path.length : slash
}
