import type pg from 'pg'
import {
  forgetDocument,
  noteUnread,
  readRegistrationUri,
  storeDocument,
  type Token,
} from '../../db/queries/sources/registration-documents.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Host } from '../../hosts/host.ts'
import { sources } from '../../sources.ts'
import { type ChainIdentities, registryOf } from '../registries.ts'
import type { Reading, Source } from '../schedule/source.ts'
import type { RegistrationFile } from './registration-file.ts'
import type { Resolve } from './resolve.ts'

interface AgentUriOptions {
  readonly pool: pg.Pool
  readonly host: Host
  readonly resolve: Resolve
  readonly now: () => Date
  readonly chains: ChainIdentities
}

const { cadenceMs } = sources.agentUri

/**
 * Reads what the agentURIs of registrations lead to. A host's failure changes `uri_status` and keeps the content; what
 * stands in the URI itself, or is named by its hash, is never read again until the URI changes.
 */
export function agentUris({ pool, host, resolve, now, chains }: AgentUriOptions): Source {
  const chainByRegistry = new Map(Object.entries(chains).map(([chain, identity]) => [registryOf(identity), chain]))
  /** Those of registries that are indexed: of others nobody knows who holds them. */
  const tokensIn = ({ registrations }: RegistrationFile) =>
    registrations?.flatMap(({ registry, agentId }) => {
      const chain = chainByRegistry.get(registry)
      return chain === undefined ? [] : [{ chain, agentId }]
    }) ?? null
  return {
    ...sources.agentUri,
    host,

    async read([subject]): Promise<Reading> {
      const token = tokenOf(subject!)
      const known = await readRegistrationUri(pool, token)
      if (!known) return { outcome: 'gone', write: (db) => forgetDocument(db, token).then(() => undefined) }
      const { uri, uriSha256, held, version } = known
      // Only length and hash of a URI beyond the limit are kept.
      const resolved = uri === null ? ({ status: 'invalid', settled: true } as const) : await resolve(uri, version)
      const nextMs = held ? cadenceMs.held : cadenceMs.others

      if (resolved.status === 'failed' || resolved.status === 'unchanged') {
        const failed = resolved.status === 'failed'
        return {
          outcome: failed ? resolved.word : 'ok',
          failed,
          async write(db) {
            await noteUnread(db, { token, uriSha256, uriStatus: failed ? resolved.word : 'ok', now: now() })
            return failed ? 0 : nextMs
          },
        }
      }
      const file = resolved.status === 'ok' ? resolved.file : nothing
      const newVersion = resolved.status === 'ok' ? resolved.version : undefined
      return {
        outcome: resolved.status,
        async write(db) {
          const document = {
            token,
            uriSha256,
            uriStatus: resolved.status,
            ...file,
            registrations: tokensIn(file),
            version: newVersion,
          }
          await storeDocument(db, document, now())
          return resolved.settled ? undefined : nextMs
        },
      }
    },
  }
}

const nothing: RegistrationFile = {
  name: null,
  description: null,
  image: null,
  active: null,
  x402Support: null,
  services: [],
  supportedTrust: [],
  registrations: null,
}

/** The registration of a subject `token:base:12`. */
function tokenOf({ subject }: LeasedSubject): Token {
  const [, chain = '', agentId = ''] = subject.split(':')
  return { chain, agentId }
}
