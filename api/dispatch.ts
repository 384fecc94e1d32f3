import { type RequestHandler, Router } from 'express'

/**
 * Routes grouped by the first one or two segments of their paths: a request is matched against its own groups alone,
 * and an error skips all groups at once. Matching each of a hundred routes costs more than answering from memory.
 */
export class Dispatch {
  readonly #groups = new Map<string, Router>()

  /** The router to register a path with; the path as Express writes it. */
  at(path: string): Router {
    const [, first, second] = path.split('/')
    const isFixed = second !== undefined && !second.includes(':')
    const beginning = isFixed ? `/${first}/${second}` : `/${first}`
    const group = this.#groups.get(beginning) ?? Router({ caseSensitive: true })
    this.#groups.set(beginning, group)
    return group
  }

  /** Middleware for all groups; to be mounted once. */
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

/** Index at which the path segment that starts at `begin` ends. */
function endOf(path: string, begin: number): number {
  const slash = path.indexOf('/', begin)
  return slash < 0 ? path.length : slash
}
