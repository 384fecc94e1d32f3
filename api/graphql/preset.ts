import type pg from 'pg'
import type { Logger } from 'pino'
import { makePgService } from 'postgraphile/adaptors/pg'
import { GraphQLError } from 'postgraphile/graphql'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { makeJSONPgSmartTagsPlugin } from 'postgraphile/utils'
import { graphqlLimits } from '../../config/limits.protocols.ts'
import { isJson } from '../http/content.ts'
import { connectionsByTurn } from '../http/database.ts'

/** Indexed columns of each view, the only ones offered for filters and orders: others would scan everything. */
const indexed: Record<string, readonly string[]> = {
  agents: ['fid', 'listed_at'],
  addresses: ['fid', 'address_bytes'],
  holdings: ['fid'],
  claims: ['fid'],
  specs: ['fid'],
}

const behaviorOf = { attribute: { tags: { behavior: ['+attribute:filterBy +attribute:orderBy'] } } }

const offerIndexed = makeJSONPgSmartTagsPlugin({
  version: 1,
  config: {
    class: Object.fromEntries(
      Object.entries(indexed).map(([view, columns]) => [
        `directory.${view}`,
        { attribute: Object.fromEntries(columns.map((column) => [column, behaviorOf.attribute])) },
      ]),
    ),
  },
})

/** JSON ends with a newline like that of the API. */
const endLines: GraphileConfig.Plugin = {
  name: 'EndLinesPlugin',
  version: '1.0.0',
  grafserv: {
    middleware: {
      async processRequest(next) {
        const result = await next()
        if (result?.type !== 'buffer' || !isJson(result.headers['content-type'] ?? '')) return result
        const buffer = Buffer.concat([result.buffer, Buffer.from('\n')])
        const headers = { ...result.headers, 'content-length': String(buffer.length) }
        return { ...result, buffer, headers }
      },
    },
  },
}

/** PostGraphile preset: the views of the schema `directory`, related as their comments say, read only. */
export function createPreset(pool: Pick<pg.Pool, 'connect' | 'options'>, log: Logger): GraphileConfig.Preset {
  return {
    extends: [PostGraphileAmberPreset],
    plugins: [offerIndexed, endLines],
    pgServices: [
      makePgService({
        pool: connectionsByTurn(pool) as pg.Pool,
        schemas: ['directory'],
        pubsub: false,
      }),
    ],
    schema: {
      defaultBehavior: '-insert -update -delete -attribute:filterBy -attribute:orderBy',
      dontSwallowErrors: true,
    },
    grafast: { timeouts: graphqlLimits.timeouts, explain: false },
    grafserv: {
      graphqlPath: '/graphql',
      graphiql: true,
      graphiqlPath: '/',
      graphiqlOnGraphQLGET: false,
      watch: false,
      websockets: false,
      maxRequestLength: graphqlLimits.requestBytes,
      maskError: (error) => {
        if (!error.originalError || error.originalError instanceof GraphQLError) return error
        log.error({ err: error.originalError }, 'an operation failed')
        return new GraphQLError('ERR_INTERNAL', { nodes: error.nodes, path: error.path })
      },
    },
  }
}
