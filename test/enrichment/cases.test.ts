import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { chains } from '../../config/chains.ts'
import { createAgentHosts } from '../../enrichment/agent-hosts.ts'
import { parseForm } from '../../enrichment/agent-uri/form.ts'
import { toListedRegistration } from '../../enrichment/agent-uri/listed-registration.ts'
import { toRegistrationFile } from '../../enrichment/agent-uri/registration-file.ts'
import { loginOf } from '../../enrichment/codehost/login.ts'
import { toCatalog } from '../../enrichment/specs/catalog.ts'
import { parsed } from '../../enrichment/specs/content.ts'
import { readContent, type SpecKind } from '../../enrichment/specs/kinds.ts'
import { askServer } from '../../enrichment/specs/mcp/session.ts'
import { inDollars, pricesIn } from '../../enrichment/specs/prices.ts'
import { createDoor } from '../../net/door.ts'
import { parseEgressAllow } from '../../net/egress.ts'
import { freePort } from '../../ops/ports.ts'
import { fixture, fixtures, readFixture } from '../support/fixture.ts'
import { until } from '../support/until.ts'

/** What the directory takes from a document of each kind; members that say nothing are left out by the count. */
const reading: Record<string, (text: string, name: string) => unknown> = {
  reg(text) {
    const value = JSON.parse(text)
    const { truncated: _, ...file } = toRegistrationFile(value) ?? { truncated: {} }
    return { ...file, listed: (value.registrations ?? []).map(toListedRegistration) }
  },
  uri(text) {
    const form = parseForm(text)
    return form.kind === 'inline' ? JSON.parse(Buffer.from(form.bytes).toString()) : { kind: form.kind }
  },
  a2a: (text) => documentIn(JSON.parse(text), 'a2a'),
  mcp: (text, name) => (name.endsWith('.mjs') ? sessionWith(text) : documentIn(JSON.parse(text), 'mcp')),
  cat: (text) =>
    toCatalog(JSON.parse(text), new URL('https://shop.test/'))?.cards.map(({ kind, url }) => ({ kind, url: url.href })),
  openapi: (text) => documentIn(parsed(Buffer.from(text)), 'openapi'),
  x402: (text) => documentIn(JSON.parse(text), 'x402'),
  host(text) {
    const { registration, ...served } = JSON.parse(text)
    const kinds = Object.entries(served).flatMap(([key, one]) => {
      const kind = /\.well-known\/(\w+)\.json$/.exec(key)?.[1] as SpecKind | undefined
      return kind ? [[kind, documentIn(one, kind)]] : []
    })
    return { services: toRegistrationFile(registration)?.services, ...Object.fromEntries(kinds) }
  },
  code: (text) => ({ login: loginOf(text.trim()) }),
}

function documentIn(document: unknown, kind: SpecKind) {
  const content = readContent[kind](document)
  if (!content) return undefined
  const { title, version, skills, tools, pathCount, details } = content
  const prices = pricesIn(document).prices.map((price) => inDollars(price, chains))
  const { interfaces, truncated } = details
  return { title, version, skills, tools, pathCount, interfaces, truncated, prices }
}

/** What a server says of itself that is run as the case writes it, at a free port. */
async function sessionWith(program: string) {
  const port = await freePort('127.0.0.1')
  const text = program.replace(/listen\(\d+/, `listen(${port}`)
  const server: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = once(server, 'exit')
    if (server.kill()) await ended
  })
  const url = new URL(`http://127.0.0.1:${port}/mcp/sse`)
  await until('the server listens', () =>
    fetch(url, { method: 'POST' }).then(
      () => true,
      () => false,
    ),
  )
  const egressAllow = parseEgressAllow(url.host)
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.example)', egressAllow, politeness })
  onTestFinished(door.close)
  const { status, content } = await askServer(createAgentHosts({ door, egressAllow, now: () => new Date() }), url)
  return { status, title: content?.title, revision: content?.protocolVersion, tools: content?.tools }
}

/** The statements of a value: each text, number and truth in it, by its path; numbers with the decimals that they need. */
function statementsOf(value: unknown, path = ''): [string, unknown][] {
  if (value === null || value === undefined) return []
  if (typeof value === 'string') return [[path, value.replace(/^(\d+\.\d*?)0+$/, '$1')]]
  if (typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, one]) => statementsOf(one, `${path}/${key}`))
}

const meanings: Readonly<Record<string, unknown>> = fixture('documents-mean.json')

test('documents as the world writes them are read as they mean, and nothing false is said of any', async () => {
  const names = readdirSync(new URL('documents/', fixtures)).sort()
  expect(Object.keys(meanings).sort()).toEqual(names)
  const unread: string[] = []
  const wrong: string[] = []
  let statements = 0
  for (const name of names) {
    const [kind = ''] = name.split('__')
    const read = new Map(statementsOf(await reading[kind]?.(readFixture(`documents/${name}`), name)))
    const meant = new Map(statementsOf(meanings[name]))
    statements += meant.size
    for (const [path] of meant) if (!read.has(path)) unread.push(`${name} ${path}`)
    for (const [path, one] of read) if (meant.get(path) !== one) wrong.push(`${name} ${path}: ${one}`)
  }
  expect(wrong).toEqual([])
  const share = (100 * (statements - unread.length)) / statements
  const counted =
    `${names.length} documents with ${statements} statements: ${statements - unread.length} are read as they mean ` +
    `(${share.toFixed(1)} %), ${unread.length} are not read, ${wrong.length} are false.`
  process.stdout.write(`${counted}\n`)
  expect(share, unread.join('\n')).toBeGreaterThanOrEqual(95)
  const published = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
  expect(published.includes(counted), `docs/testing.md differs from: ${counted}`).toBe(true)
})
