import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isSameSite } from '../../../config/platforms.ts'
import type { SpecDetails } from '../../../db/queries/sources/agent-specs.ts'
import type { Fetched } from '../../../net/door.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { type SpecStatus, statusOf } from '../check-status.ts'
import { parsed } from '../content.ts'
import { specRequests } from '../spec-requests.ts'

const answer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string().optional() }).optional(),
})
/** There is no such task, which is the right answer; the version is not spoken, which only a server of the protocol says. */
const rightErrors = [-32001, -32009]
const noSuchMethod = -32601

/**
 * Asks an A2A agent for a task that cannot exist, which gives it no work to do: in version 1.0 of the protocol or in 0.3, as it
 * says, and in the other where it knows no such method. By JSON-RPC, or by plain HTTP where its binding says so.
 *
 * Source: A2A specification 1.0, 3.1.3 (Get Task), 5.4 (errors), 9 and 11 (bindings); 0.3.0, 7.3.
 */
export async function askForTask(hosts: AgentHosts, url: URL, { binding, version }: Interface): Promise<Answered> {
  const isNew = /^v?1\b/.test(version ?? '')
  if (/rest|http\+json/i.test(binding ?? '')) return askByHttp(hosts, url, isNew)
  const first = await askByRpc(hosts, url, isNew)
  return first.isUnknown ? (await askByRpc(hosts, url, !isNew)).answered : first.answered
}

async function askByRpc(hosts: AgentHosts, url: URL, isNew: boolean) {
  const method = isNew ? 'GetTask' : 'tasks/get'
  const fetched = await hosts.fetch(url, {
    ...askOptions,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...versionOf(isNew) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: randomUUID() } }),
  })
  // Some answer errors of the protocol with a status of their own.
  const { data } = answer.safeParse(parsed(fetched.body))
  const { code, message = '' } = data?.error ?? {}
  const isRight = data && (data.error === undefined || rightErrors.includes(code!) || saysNotFound(message))
  return { answered: toAnswered(fetched, isRight === true), isUnknown: code === noSuchMethod }
}

async function askByHttp(hosts: AgentHosts, url: URL, isNew: boolean): Promise<Answered> {
  const base = url.href.replace(/\/$/, '')
  const place = new URL(`${base}${isNew ? '' : '/v1'}/tasks/${randomUUID()}`)
  const headers = { accept: 'application/json', ...versionOf(isNew) }
  const fetched = await hosts.fetch(place, { ...askOptions, headers })
  const value = parsed(fetched.body)
  // Any host answers 404; that a task is missing says only an agent.
  const isRight = fetched.status === 404 && typeof value === 'object' && saysNotFound(JSON.stringify(value))
  return toAnswered(fetched, isRight)
}

const saysNotFound = (text: string) => /task[\s\S]{0,80}not[ _-]?found|not[ _-]?found[\s\S]{0,80}task/i.test(text)

/** An absent version means 0.3. */
const versionOf = (isNew: boolean): Record<string, string> => (isNew ? { 'a2a-version': '1.0' } : {})

function toAnswered({ status, body, elapsedMs }: Fetched, isRight: boolean): Answered {
  const wrong = () => statusOf(status) ?? (parsed(body) === undefined ? 'not_json' : 'schema_mismatch')
  return { code: isRight ? 'ok' : wrong(), latencyMs: Math.round(elapsedMs) }
}

/**
 * How what a document describes answered a harmless request in its own protocol. `not_asked`: it names no place, or
 * none that is asked: a template, one on another site, or one in a protocol that is not spoken here.
 */
export interface Answered {
  readonly code: SpecStatus | 'not_asked'
  /** Milliseconds to the answer; null: there was none. */
  readonly latencyMs: number | null
}

export type Interface = NonNullable<SpecDetails['interfaces']>[number]

/** Bytes of an answer that are read. */
const maxBytes = 64 * 1024
export const askOptions = { ...specRequests, maxBytes, redirects: 3, mayRedirect: isSameSite }
