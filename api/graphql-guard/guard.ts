import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { type DocumentNode, GraphQLError, type GraphQLSchema, Lexer, parse, Source, TokenKind } from 'graphql'
import { graphqlLimits } from '../../config/limits.protocols.ts'
import { sendJson } from '../http/content.ts'
import { type OperationLimits, Refused, weigh } from './cost.ts'
import { checkForm, checkOverlaps, type FormLimits, objectsIn } from './form.ts'

interface GuardLimits extends OperationLimits, FormLimits {
  readonly requestBytes: number
  readonly tokens: number
}

/** Reads the body of a request, and answers with a GraphQL error one that cannot be read. */
export function readGraphqlBody({ requestBytes }: Pick<GuardLimits, 'requestBytes'> = graphqlLimits) {
  const refuse: ErrorRequestHandler = (error, _req, res, next) => {
    if (!(error.status >= 400 && error.status < 500)) return next(error)
    const message = `the body must be JSON of at most ${requestBytes} bytes`
    sendJson(res.status(error.status), { errors: [{ message }] })
  }
  return [express.json({ limit: requestBytes, type: () => true }), refuse] as const
}

/**
 * Answers 400 with the reason unless the body, parsed JSON by then, is one GraphQL request within the limits. What it asks
 * is in `res.locals.document` then.
 */
export function guard(schema: GraphQLSchema, limits: GuardLimits = graphqlLimits): RequestHandler {
  return (req, res, next) => {
    const read = readRequest(schema, req.body, limits)
    if (typeof read === 'string') return sendJson(res.status(400), { errors: [{ message: read }] })
    res.locals.document = read
    next()
  }
}

/** The document of a request; a text: what is wrong with it. */
function readRequest(schema: GraphQLSchema, body: unknown, limits: GuardLimits): DocumentNode | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return 'the body must be one JSON object with query and, if need be, variables and operationName'
  }
  const { query, variables, operationName } = body as { query?: unknown; variables?: unknown; operationName?: unknown }
  if (typeof query !== 'string') return 'query must be a string'
  if (variables !== undefined && (typeof variables !== 'object' || Array.isArray(variables))) {
    return 'variables must be an object'
  }
  if (isDeeper(variables, deepest)) return `variables may be nested ${deepest} deep`
  if (objectsIn(variables) > limits.objects) return `variables may have ${limits.objects} objects in them`
  try {
    if (opened(query, limits) > deepest) return `brackets may be nested ${deepest} deep`
    const document = parse(query, { maxTokens: limits.tokens, noLocation: true })
    checkForm(document, limits)
    const asked = {
      variables: (variables ?? {}) as Record<string, unknown>,
      operationName: typeof operationName === 'string' ? operationName : undefined,
    }
    weigh(schema, document, asked, limits)
    checkOverlaps(document, limits)
    return document
  } catch (error) {
    if (error instanceof Refused || error instanceof GraphQLError) return error.message
    throw error
  }
}

/** How deep variables and documents may be nested: what reads them calls itself for each level. */
const deepest = 50

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** How many brackets are open at most at the same time in what is parsed of a document. Throws what its parser throws. */
function opened(query: string, { tokens }: Pick<GuardLimits, 'tokens'>): number {
  const lexer = new Lexer(new Source(query))
  let depth = 0
  let most = 0
  for (let count = 0; count <= tokens && lexer.advance().kind !== TokenKind.EOF; count++) {
    if (opening.has(lexer.token.kind)) most = Math.max(most, ++depth)
    // A bracket too many is where the parser ends.
    else if (closing.has(lexer.token.kind) && --depth < 0) break
  }
  return most
}

function isDeeper(value: unknown, most: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
