import type { RequestHandler } from 'express'
import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'postgraphile/graphql'
import { graphqlLimits } from '../../limits.config.ts'
import { sendJson } from '../http/content.ts'
import { Refused, weigh } from './cost.ts'

/** Answers 400 with the reason unless the body, parsed JSON by then, is one GraphQL request within the limits. */
export function guard(schema: GraphQLSchema): RequestHandler {
  return (req, res, next) => {
    const problem = problemOf(schema, req.body)
    if (problem === undefined) return next()
    sendJson(res.status(400), { errors: [{ message: problem }] })
  }
}

function problemOf(schema: GraphQLSchema, body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return 'the body must be one JSON object with query and, if need be, variables and operationName'
  }
  const { query, variables } = body as { query?: unknown; variables?: unknown }
  if (typeof query !== 'string') return 'query must be a string'
  if (variables !== undefined && (typeof variables !== 'object' || Array.isArray(variables))) {
    return 'variables must be an object'
  }
  try {
    weigh(schema, parseBounded(query), (variables ?? {}) as Record<string, unknown>)
    return undefined
  } catch (error) {
    if (error instanceof Refused || error instanceof GraphQLError) return error.message
    throw error
  }
}

function parseBounded(query: string): DocumentNode {
  return parse(query, { maxTokens: graphqlLimits.tokens, noLocation: true })
}
