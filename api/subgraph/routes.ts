import { type RequestHandler, type Response, Router } from 'express'
import { type DocumentNode, GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { type ChainName, chainNames, chainOf, findChain } from '../../config/chains.ts'
import { subgraphLimits } from '../../config/limits.protocols.ts'
import { guard, readGraphqlBody } from '../graphql-guard/guard.ts'
import { sendJson } from '../http/content.ts'
import { waitInLane } from '../http/database-turns.ts'
import { refuseMethod } from '../http/error-answer.ts'
import { requestId } from '../http/headers.ts'
import type { Sources } from '../http/route.ts'
import { problemsOf, run, subgraphSchema } from './execute.ts'
import { SubgraphReading } from './read.ts'

export const subgraphPath = '/subgraph'

/**
 * POST /subgraph and /subgraph/{chain}: GraphQL by the names of the public subgraph of ERC-8004, over all registrations, of
 * all chains or of one. It stands behind the limiter.
 */
export function subgraphRoutes({ database }: Pick<Sources, 'database'>, log: Logger): Router {
  const schema = subgraphSchema()
  const answer: RequestHandler = async (req, res) => {
    const chains = chainsOf(req.params.chain as string | undefined)
    if (chains === undefined) {
      const labels = chainNames.map((name) => `${chainOf(name).id} (${chainOf(name).label})`).join(', ')
      return refuse(res, 404, [new GraphQLError(`there is no such chain; there are ${labels}`)])
    }
    const document = res.locals.document as DocumentNode
    const problems = problemsOf(schema, document)
    if (problems.length > 0) return refuse(res, 400, problems)
    const onFailure = (err: unknown) => log.error({ requestId: requestId(res), err }, 'a query of the subgraph failed')
    const reading = new SubgraphReading(database, chains, onFailure)
    const { variables, operationName } = req.body
    const result = await run(schema, reading, { document, variables: variables ?? undefined, operationName })
    if (result.errors && result.data === undefined) return refuse(res, 400, result.errors)
    sendJson(res, result)
  }
  const router = Router({ caseSensitive: true })
  const paths = [subgraphPath, `${subgraphPath}/:chain`]
  router.post(paths, ...readGraphqlBody(subgraphLimits), guard(schema, subgraphLimits), waitInLane('api'), answer)
  router.all(paths, refuseMethod(['POST']))
  return router
}

/** Undefined: there is no such chain. */
function chainsOf(chain: string | undefined): readonly ChainName[] | undefined {
  if (chain === undefined) return chainNames
  const name = findChain(chain)
  return name === undefined ? undefined : [name]
}

function refuse(res: Response, status: number, errors: readonly GraphQLError[]): void {
  res.locals.errorCode = status === 404 ? 'ERR_NOT_FOUND' : 'ERR_PAYLOAD_INVALID'
  sendJson(res.status(status), { errors })
}
