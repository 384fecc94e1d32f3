import { type Asked, type BenchServer, type Load, load, startServer } from './load.ts'

/** The forms are measured in turn, round after round, so that the machine's other work disturbs all alike. */
interface FormsOptions {
  readonly env: Record<string, string>
  /** Seconds of one measurement. */
  readonly seconds: number
  /** Rounds; the cheapest of each form counts, because other work only adds to it. */
  readonly rounds: number
}

const connections = 16

/** Paths requested of each endpoint: one that is found, one that is not. A benchmark's world has agents 1 and up. */
const endpoints: Record<string, { found: string; missing?: string }> = {
  profile: { found: '/api/agent/1', missing: '/api/agent/999999999' },
  settlements: { found: '/api/agent/1/settlements?limit=100', missing: '/api/agent/999999999/settlements' },
  discovery: { found: '/api/discovery?limit=100&chain=Base' },
  addresses: { found: '/api/agent/1/addresses', missing: '/api/agent/999999999/addresses' },
  leaderboard: { found: '/api/leaderboard' },
  stats: { found: '/api/stats' },
  search: { found: '/api/search?q=atlas' },
  feed: { found: '/feed.atom' },
  log: { found: '/data/log.ndjson' },
  error: { found: '/api/errors/ERR_NOT_FOUND', missing: '/api/errors/ERR_NONE' },
  badge: { found: '/badge/1.json' },
  'no path': { found: '/api/stats', missing: '/api/nothing/here' },
}

interface Measured {
  readonly endpoint: string
  readonly form: string
  readonly status: number
  /** Size of the answer's body, as sent. */
  readonly bytes: number
  readonly ours: BenchServer
  readonly asked: Asked
}

/**
 * CPU time per request of every endpoint in every form, answered from memory, relative to bare `node:http` sending as
 * many bytes with the same status. Prints a table; returns the highest factor of each form.
 */
export async function benchForms({ env, seconds, rounds }: FormsOptions): Promise<Record<string, number>> {
  const servers = [await startServer('full', env), await startServer('refusing', env), await startServer('bare', env)]
  const [ours, refusing, bare] = servers as [BenchServer, BenchServer, BenchServer]
  try {
    const measured = (await Promise.all(Object.keys(endpoints).map((name) => formsOf(name, ours, refusing)))).flat()
    const costs = measured.map(() => ({ ours: Number.POSITIVE_INFINITY, bare: Number.POSITIVE_INFINITY }))
    for (let round = 0; round < rounds; round++) {
      for (const [index, one] of measured.entries()) {
        const cost = costs[index] as { ours: number; bare: number }
        const same: Asked = { path: `/${one.bytes}`, headers: { ...one.asked.headers, 'x-status': `${one.status}` } }
        const options = { seconds, connections, status: one.status }
        cost.ours = Math.min(cost.ours, checked(await load(one.ours, [one.asked], options)))
        cost.bare = Math.min(cost.bare, checked(await load(bare, [same], options)))
      }
    }
    return report(measured, costs)
  } finally {
    for (const server of servers) await server.stop()
  }
}

function checked({ cpuPerRequest, failures }: Load): number {
  if (failures > 0) throw new Error(`${failures} requests were answered otherwise`)
  return cpuPerRequest
}

async function formsOf(endpoint: string, ours: BenchServer, refusing: BenchServer): Promise<Measured[]> {
  const { found, missing } = endpoints[endpoint] as { found: string; missing?: string }
  const br = { 'accept-encoding': 'br' }
  const etag = (await fetch(ours.url + found, { headers: { 'accept-encoding': 'identity' } })).headers.get('etag') ?? ''
  const wanted: [form: string, server: BenchServer, path: string, headers: Record<string, string>][] = [
    ['plain', ours, found, {}],
    ['br', ours, found, br],
    ['304', ours, found, { 'if-none-match': etag }],
    ...(missing === undefined ? [] : [['404', ours, missing, {}] as const]),
    ['429', refusing, found, {}],
  ] as never
  const forms: Measured[] = []
  for (const [form, server, path, headers] of wanted) {
    const { status, bytes } = await sizeOf(server.url + path, headers)
    if (form === 'br' && forms[0]?.bytes === bytes) continue // too small to be compressed
    forms.push({ endpoint, form, status, bytes, ours: server, asked: { path, headers } })
  }
  return forms
}

/** Size and status of an answer as it comes over the wire, once the server has it in memory. */
export async function sizeOf(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: number }> {
  for (let asked = 0; ; asked++) {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'identity', ...headers } })
    await answer.arrayBuffer()
    if (asked > 1) return { status: answer.status, bytes: Number(answer.headers.get('content-length') ?? 0) }
  }
}

function report(measured: readonly Measured[], costs: readonly { ours: number; bare: number }[]) {
  process.stdout.write(`\nprocessor time a request from memory, ${connections} connections, against node:http alone\n`)
  process.stdout.write('endpoint      form   status    bytes   CPU us    bare us   x bare\n')
  const highest: Record<string, number> = {}
  for (const [index, { endpoint, form, status, bytes }] of measured.entries()) {
    const { ours, bare } = costs[index] as { ours: number; bare: number }
    const factor = Number((ours / bare).toFixed(2))
    highest[form] = Math.max(highest[form] ?? 0, factor)
    const columns = [
      endpoint.padEnd(12),
      form.padStart(6),
      String(status).padStart(8),
      String(bytes).padStart(8),
      ours.toFixed(1).padStart(8),
      bare.toFixed(1).padStart(10),
      factor.toFixed(2).padStart(8),
    ]
    process.stdout.write(`${columns.join(' ')}\n`)
  }
  return highest
}
