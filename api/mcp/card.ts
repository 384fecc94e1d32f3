import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { Router } from 'express'
import { answerAlways } from '../http/answer.ts'
import { contentOf } from '../http/content.ts'
import { refuseMethod } from '../http/error-answer.ts'

/** Protocol revision without sessions; earlier ones are in the library's SUPPORTED_PROTOCOL_VERSIONS. */
const newestRevision = '2026-07-28'
export const version = '1.0.0'

const cardType = 'application/mcp-server-card+json'
const catalogType = 'application/ai-catalog+json'
/** Cache lifetime of documents that change only with a new version of the program. */
const maxAgeSeconds = 3_600

/**
 * What clients can read about the MCP server before they connect: its card (SEP-2127) and, if they know the host
 * alone, the catalog that leads to the card.
 */
export function cardRoutes({ baseUrl, serviceName }: { baseUrl: string; serviceName: string }): Router {
  const { hostname } = new URL(baseUrl)
  const url = `${baseUrl}/mcp`
  const card = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${hostname
      .split('.')
      .reverse()
      .join('.')
      .replaceAll(/[^a-z0-9.-]/g, '')}/${serviceName}`,
    version,
    description: 'AI agents with on-chain identities, verified accounts and the settlements they received.',
    remotes: [
      { type: 'streamable-http', url, supportedProtocolVersions: [newestRevision, ...SUPPORTED_PROTOCOL_VERSIONS] },
    ],
  }
  const catalog = {
    specVersion: '0.9', // the first release, of 2026-11-22; a name is the card's own
    entries: [
      {
        identifier: `urn:air:${hostname}:${serviceName}`,
        type: cardType,
        url: `${url}/server-card`,
      },
    ],
  }
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, type, document] of [
    ['/mcp/server-card', cardType, card],
    ['/.well-known/ai-catalog.json', catalogType, catalog],
  ] as const) {
    router.get(path, answerAlways(contentOf(type, JSON.stringify(document)), maxAgeSeconds))
    router.all(path, refuseMethod(['GET', 'HEAD']))
  }
  return router
}
