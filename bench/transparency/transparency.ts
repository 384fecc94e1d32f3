import type pg from 'pg'
import { migrate } from '../../db/migrate.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { appendEntries, logEntries, storeTiles, tileReader } from '../../db/queries/transparency/tree.ts'
import { leafHash } from '../../transparency/hashes.ts'
import { isIncluded } from '../../transparency/proofs.ts'
import { appendToTiles } from '../../transparency/tiles.ts'
import { inclusionProof, rootOf } from '../../transparency/tree.ts'
import { startTemporaryServer } from '../temporary-server.ts'
import { visibleToSigned } from './visible-to-signed.ts'

/** Entries appended in one transaction, as the job does at most, and how many are appended one by one in the end. */
const batch = 500
const single = 100
const proofs = 500
/**
 * What must be met, in milliseconds. A proof's is of CPU time: the time that it takes also depends on what else the machine
 * does.
 */
const goals = { append_ms: 1, proof_cpu_ms: 5, signed_ms: 5_000 } as const

/**
 * Measures appending to the transparency log, inclusion proofs, making all tiles again, and how long the job takes to sign
 * what became visible; prints a table. Throws when a goal is missed.
 */
export async function benchTransparency({ entries }: { readonly entries: number }): Promise<void> {
  const { folder, postgres, remove } = await startTemporaryServer('transparency', { durable: true, settings: {} })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: 4, statementTimeoutMs: 0 })
  try {
    await migrate(postgres.databaseUrl)
    const many = await milliseconds(async () => {
      for (let size = 0; size < entries; size += batch) await append(pool, size, Math.min(batch, entries - size))
    })
    const one = await milliseconds(async () => {
      for (let size = entries; size < entries + single; size++) await append(pool, size, 1)
    })
    const size = entries + single
    const before = process.cpuUsage()
    const proof = await milliseconds(() => prove(pool, size))
    const { user, system } = process.cpuUsage(before)
    await checkTiles(pool, size)
    const signed = await visibleToSigned({ pool, databaseUrl: postgres.databaseUrl, folder })
    const figures = {
      append_ms: many / entries,
      append_one_ms: one / single,
      proof_ms: proof / proofs,
      proof_cpu_ms: (user + system) / 1_000 / proofs,
      signed_median_ms: signed.median,
      signed_ms: signed.most,
    }
    const rows: [string, number][] = [
      [`an entry, appended with ${batch - 1} others`, figures.append_ms],
      [`an entry, appended alone to ${entries}`, figures.append_one_ms],
      [`an inclusion proof among ${size}, tiles read from Postgres`, figures.proof_ms],
      ['the same, CPU of the process that makes and checks it', figures.proof_cpu_ms],
      ['a change, from visible to in a signed checkpoint, median', figures.signed_median_ms],
      ['the same, the longest of all', figures.signed_ms],
    ]
    for (const [what, ms] of rows) process.stdout.write(`${what.padEnd(70)} ${ms.toFixed(3)} ms\n`)
    process.stdout.write(`tiles made again from all entries: equal\n`)
    process.stdout.write(`${JSON.stringify({ bench: 'transparency', entries, ...figures })}\n`)
    for (const [name, goal] of Object.entries(goals)) {
      const measured = figures[name as keyof typeof goals]
      if (measured >= goal) throw new Error(`${name} is ${measured.toFixed(3)}, and has to be below ${goal}`)
    }
  } finally {
    await pool.end()
    await remove()
  }
}

const entryOf = (index: number) =>
  Buffer.from(`{"at":"2026-11-29T00:00:00.000Z","fid":${index},"proof":"${'0'.repeat(64)}","type":"unlist"}`)

async function append(pool: pg.Pool, size: number, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, at) => ({ subject: String(size + at), entry: entryOf(size + at) }))
  await inTransaction(pool, async (db) => {
    await appendEntries(db, size, entries)
    const leaves = entries.map(({ entry }) => leafHash(entry))
    await storeTiles(db, await appendToTiles(size, leaves, tileReader(db)))
  })
}

/** Proves entries all over the tree, and that each proof holds. */
async function prove(pool: pg.Pool, size: number): Promise<void> {
  const readTile = tileReader(pool)
  const root = await rootOf(size, readTile)
  for (let number = 0; number < proofs; number++) {
    const index = Math.floor((number * size) / proofs)
    const proof = await inclusionProof(index, size, readTile)
    if (!isIncluded({ index, leaf: leafHash(entryOf(index)) }, { size, root }, proof)) {
      throw new Error(`the proof of entry ${index} does not hold`)
    }
  }
}

/** Makes all tiles from the stored entries, and throws if one is another than is stored. */
async function checkTiles(pool: pg.Pool, size: number): Promise<void> {
  const leaves: Buffer[] = []
  for (let first = 0; first < size; first += 10_000) {
    leaves.push(...((await logEntries(pool, { epoch: 1, first, count: 10_000 })) ?? []).map(leafHash))
  }
  const readTile = tileReader(pool)
  for (const tile of await appendToTiles(0, leaves, readTile)) {
    if (!tile.hashes.equals(await readTile(tile))) {
      throw new Error(`tile ${tile.number} of level ${tile.level} is another than its entries make`)
    }
  }
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
