import { expect, test } from 'vitest'
import { maxDocumentBytes } from '../../../enrichment/agent-uri/registration-file.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { mint, profileOf, publish, specsOf, startAgentsJob, startHosts } from './job.ts'

// The longest of everything that strangers write, as they can write it: registration files whose every text is as long
// as its bound, of characters that take the most bytes, once encoded or once taken apart into words.

const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')

/** Characters that differ from one another, so that nothing repeats and little compresses. */
function chinese(count: number, seed: number): string {
  let state = seed * 7_919 + 1
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCodePoint(0x4e00 + (state % 20_000))
  }).join('')
}

async function startJob() {
  const [host] = await startHosts(1)
  if (!host) throw new Error('no host was started')
  const job = startAgentsJob({ database, clock, hosts: [host] })
  return { host, job }
}

test('an endpoint that is longer than an index row once it is encoded is left out, and the others are looked at', async () => {
  const { host, job } = await startJob()
  const fid = 1
  await publish(database.pool, host, fid)
  // Of the recorded case: 1,927 characters, 17,127 once percent-encoded.
  const services = [
    ...['x402', 'MCP', 'A2A', 'openapi'].map((name, at) => ({ name, endpoint: `${host.url}/${chinese(1_900, at)}` })),
    // Just below the bound, and above it with the card's place added.
    { name: 'A2A', endpoint: `${host.url}/${'a'.repeat(2_048 - host.url.length - 1)}` },
    { name: 'MCP', endpoint: `${host.url}/mcp` },
  ]
  await database.pool.query('update registration set agent_uri = $1 where agent_id = $2', [
    JSON.stringify({ name: 'long', services }),
    fid,
  ])
  await job.join()
  await job.read('agent_uri')
  await job.join()
  expect(await job.read('spec_discovery')).toEqual(['ok'])
  await job.join()
  const shown = await specsOf(database.pool, fid)
  expect(shown.spec_check_status).toBe('found')
  const documents = shown.documents as { kind: string; url: string }[]
  expect(documents.map(({ kind, url }) => `${kind} ${url}`)).toContain(`mcp ${host.url}/mcp`)
  expect(Math.max(...documents.map(({ url }) => Buffer.byteLength(url)))).toBeLessThanOrEqual(2_048)
})

/** Texts of a service's endpoint that become the most bytes of words, each of at most 2,048 characters. */
const wordiest: Record<string, (at: number) => string> = {
  'three words of 600 Chinese characters': (at) =>
    [chinese(600, 3 * at), chinese(600, 3 * at + 1), chinese(600, 3 * at + 2)].join(' '),
  'single Chinese characters': (at) => [...chinese(1_000, at)].join(' '),
  'short addresses': (at) =>
    Array.from({ length: 200 }, (_, one) => `a${(at * 200 + one).toString(36)}.bc/d`).join(' '),
  'words with hyphens': (at) =>
    Array.from({ length: 150 }, (_, one) => `abc-${(at * 150 + one).toString(36).replace(/\d/g, 'x')}-def`).join(' '),
  'characters that grow when lowered': (at) => `İ${at}`.repeat(600).slice(0, 2_000),
}

test.each(Object.entries(wordiest))(
  'an agent with eight files of nothing but %s is listed and found',
  async (_, text) => {
    const { job } = await startJob()
    const fid = 100 + Object.values(wordiest).indexOf(text)
    for (let record = 0; record < 8; record++) {
      const services = Array.from({ length: 40 }, (_, at) => ({ name: 'web', endpoint: text(record * 40 + at) }))
      let file = JSON.stringify({ name: `wordy ${fid}`, services })
      while (Buffer.byteLength(file) > maxDocumentBytes) {
        services.pop()
        file = JSON.stringify({ name: `wordy ${fid}`, services })
      }
      await mint(database.pool, {
        id: fid * 10 + record,
        fid,
        uri: `data:application/json,${encodeURIComponent(file)}`,
      })
    }
    await job.join()
    await job.read('agent_uri')
    await job.join()
    expect(await profileOf(database.pool, fid)).toMatchObject({ fid, agent_status: 'active', erc8004_total: 8 })
    const { rows } = await database.pool.query(
      `select octet_length(names || skills || descriptions) as bytes, document @@ plainto_tsquery('simple', $2) as found
       from agent_words where fid = $1`,
      [fid, `wordy ${fid}`],
    )
    expect(rows).toEqual([{ bytes: expect.any(Number), found: true }])
    expect(rows[0].bytes).toBeGreaterThan(100_000)
  },
)
