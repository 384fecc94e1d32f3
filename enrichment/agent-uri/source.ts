import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import {
  forgetDocument,
  noteUnread,
  type RegistrationKey,
  readRegistrationUri,
  storeDocument,
} from '../../db/queries/sources/registration-documents.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Host } from '../../hosts/host.ts'
import { type ChainIdentities, registryOf } from '../networks.ts'
import type { Reading, Source } from '../schedule/source.ts'
import type { RegistrationFile } from './registration-file.ts'
import type { Resolve } from './resolve.ts'

interface AgentUriOptions {
  readonly pool: pg.Pool
  readonly host: Host
  readonly resolve: Resolve
  /** The same for registrations that no agent holds, or that strangers sent to it: anybody can name a host in those. */
  readonly resolveForeign: Resolve
  readonly now: () => Date
  readonly chains: ChainIdentities
}

const { cadenceMs } = sources.agentUri

/**
 * Reads what the agentURIs of registrations lead to. A host's failure changes `uri_status` and keeps the content; what
 * stands in the URI itself, or is named by its hash, is never read again until the URI changes.
 */
export function agentUris({ pool, host, resolve, resolveForeign, now, chains }: AgentUriOptions): Source {
  const chainByRegistry = new Map(Object.entries(chains).map(([chain, identity]) => [registryOf(identity), chain]))
  /** The registrations in a file that belong to indexed registries; the holders of others are not known. */
  const indexedIn = ({ registrations }: RegistrationFile) =>
    registrations?.flatMap(({ registry, agentId }) => {
      const chain = chainByRegistry.get(registry)
      return chain === undefined ? [] : [{ chain, agentId }]
    }) ?? null
  return {
    ...sources.agentUri,
    host,

    async read([subject]): Promise<Reading> {
      const registration = registrationOf(subject!)
      const known = await readRegistrationUri(pool, registration)
      if (!known) return { outcome: 'gone', write: (db) => forgetDocument(db, registration).then(() => undefined) }
      const { uri, uriSha256, held, isOwn, version } = known
      // Only length and hash of a URI beyond the limit are kept.
      const read = isOwn ? resolve : resolveForeign
      const resolved = uri === null ? ({ status: 'invalid', settled: true } as const) : await read(uri, version)
      const nextMs = held ? cadenceMs.held : cadenceMs.others

      if (resolved.status === 'failed' || resolved.status === 'unchanged') {
        const failed = resolved.status === 'failed'
        return {
          outcome: failed ? resolved.word : 'ok',
          failed,
          async write(db) {
            const uriStatus = failed ? resolved.word : 'ok'
            await noteUnread(db, {
              registration,
              uriSha256,
              uriStatus,
              ownOrigin: failed ? null : resolved.isOwn,
              now: now(),
            })
            return failed ? 0 : nextMs
          },
        }
      }
      const file = resolved.status === 'ok' ? resolved.file : nothing
      return {
        outcome: resolved.status,
        async write(db) {
          const document = {
            registration,
            uriSha256,
            uriStatus: resolved.status,
            ...file,
            registrations: indexedIn(file),
            ownOrigin: resolved.status === 'ok' && resolved.isOwn,
            version: resolved.status === 'ok' ? resolved.version : undefined,
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
  truncated: {},
}

/** The registration of a subject `token:base:12`. */
function registrationOf({ subject }: LeasedSubject): RegistrationKey {
  const [, chain = '', agentId = ''] = subject.split(':')
  return { chain, agentId }
}
