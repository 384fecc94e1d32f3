import { gzipSync } from 'node:zlib'
import { rawCid } from './blocks.ts'
import type { Person } from './people.ts'

/** Base address of an agent's own host; null: it has none. */
export type AgentHost = (person: Person, index: number) => string | null

export interface DocumentOptions {
  readonly name: string
  readonly description: string
  /** Base address of this agent's own host; null: it has none. */
  readonly host: string | null
  readonly x402: boolean
  /** Whether its document names a page on a site that several agents share. */
  readonly studio: boolean
}

const studioUrl = 'https://studio.example'

/** What an agent of the world says of itself. */
export function documentOptions(person: Person, index: number, agentHost: AgentHost): DocumentOptions {
  return {
    name: person.profile.displayName ?? `agent ${person.fid}`,
    description: person.profile.bio ?? '',
    host: agentHost(person, index),
    x402: index % 2 === 0,
    studio: index % 4 === 1,
  }
}

/** A registration file as ERC-8004 describes it, without the parts that only its host could prove. */
export function registrationDocument({ name, description, host, x402, studio }: DocumentOptions) {
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name,
    description,
    image: `${host ?? 'https://images.example'}/avatar.png`,
    services: host
      ? [
          { name: 'web', endpoint: `${host}/` },
          { name: 'A2A', endpoint: `${host}/.well-known/agent-card.json`, version: '0.3.0' },
          { name: 'MCP', endpoint: `${host}/mcp`, version: '2025-06-18' },
          ...(studio ? [{ name: 'gallery', endpoint: `${studioUrl}/${encodeURIComponent(name)}` }] : []),
        ]
      : [],
    x402Support: x402,
    active: true,
    registrations: [],
    supportedTrust: ['reputation'],
  }
}

/** Every way an agentURI has been seen to be written. */
export const uriKinds = [
  'base64',
  'percent',
  'gzip',
  'raw',
  'https',
  'empty',
  'old-keys',
  'not-base64',
  'ipfs',
  'junk',
  'nul',
] as const
export type UriKind = (typeof uriKinds)[number]

/** The agentURI of a document in one of the ways. */
export function toAgentUri(kind: UriKind, options: DocumentOptions): string {
  const document = registrationDocument(options)
  const json = JSON.stringify(document)
  switch (kind) {
    case 'base64':
      return `data:application/json;base64,${Buffer.from(json).toString('base64')}`
    case 'percent':
      return `data:application/json,${encodeURIComponent(json)}`
    case 'gzip':
      return `data:application/json;enc=gzip;level=6;base64,${gzipSync(json, { level: 6 }).toString('base64')}`
    case 'raw':
      return json
    case 'https':
      return `${options.host ?? 'https://gone.example'}/.well-known/agent-registration.json`
    case 'empty':
      return ''
    case 'old-keys': {
      const { services, x402Support, ...rest } = document
      const old = { ...rest, endpoints: services, x402support: x402Support, supportedTrusts: rest.supportedTrust }
      return `data:application/json;base64,${Buffer.from(JSON.stringify(old)).toString('base64')}`
    }
    case 'not-base64':
      return `data:application/json;base64,${json}`
    case 'ipfs':
      return `ipfs://${rawCid(json)}`
    case 'junk':
      return 'cd'
    case 'nul':
      return `data:application/json,{"name":"nul \u0000 inside"}`
  }
}
