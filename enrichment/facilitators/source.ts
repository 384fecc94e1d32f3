import { sources } from '../../config/sources.ts'
import { type AskedFacilitator, askedFacilitators, facilitatorListSource } from '../../db/facilitator-list.ts'
import { believeSigners, storeSigners } from '../../db/queries/sources/facilitators.ts'
import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import { second } from '../../ops/time.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import type { Reading, Source } from '../schedule/source.ts'
import { signersOf } from './supported.ts'

interface FacilitatorsOptions {
  readonly hosts: AgentHosts
  /** Facilitators to ask. Default: those of the list. */
  readonly facilitators?: readonly AskedFacilitator[]
}

const { cadenceMs } = sources.facilitators
/** Longest answer of a facilitator, in bytes; one with some hundred kinds of payment has 40 KiB. */
const maxBytes = 512 * 1024
const timeoutMs = 20 * second

export const facilitatorSubjects = askedFacilitators.map(({ name }) => subjectOf(name))

/**
 * Source that asks facilitators of the list which accounts they send from. Each is named by the list, never by its
 * answer; `believeSigners` decides what of an answer is believed. One that does not answer keeps its last accounts.
 */
export function facilitatorSigners({ hosts, facilitators = askedFacilitators }: FacilitatorsOptions): Source {
  return {
    ...sources.facilitators,
    host: hosts.host,

    async read([leased]): Promise<Reading> {
      const facilitator = facilitators.find(({ name }) => subjectOf(name) === leased?.subject)
      if (!facilitator) {
        const name = nameOf(leased?.subject ?? '')
        return { outcome: 'gone', write: (db) => store(db, { name, host: '', addresses: [] }).then(() => undefined) }
      }
      const { name, api } = facilitator
      const answer = await ask(hosts, api)
      if (typeof answer === 'string') return { outcome: answer, failed: true, write: async () => 0 }
      return {
        outcome: answer.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await store(db, { name, host: new URL(api).host, addresses: answer })
          return cadenceMs.all
        },
      }
    },
  }
}

async function store(db: Parameters<typeof storeSigners>[0], said: Parameters<typeof storeSigners>[1]): Promise<void> {
  await storeSigners(db, said)
  await believeSigners(db, facilitatorListSource)
}

/** The accounts that a facilitator's API names, or, as a text, why there is no answer. */
async function ask(hosts: AgentHosts, api: string): Promise<string[] | string> {
  let fetched: Fetched
  try {
    fetched = await hosts.fetch(new URL(`${api}/supported`), {
      maxBytes,
      timeoutMs,
      headers: { accept: 'application/json' },
    })
    if (fetched.status !== 200) return `http_${fetched.status}`
    return signersOf(parseJson(fetched.body)) ?? 'schema_mismatch'
  } catch (error) {
    if (error instanceof DoorError) return error.checkStatus ?? error.reason
    throw error
  }
}

function subjectOf(name: string): string {
  return `facilitator:${name}`
}

function nameOf(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1)
}
