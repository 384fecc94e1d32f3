import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { startTemporaryServer } from '../temporary-server.ts'
import { type FarmsSize, generateHistory } from './history.ts'
import { deriveRates, measureFlags, storeHistory } from './measure.ts'

/** Derives who rates whom in a generated history, and prints which farms are found, and which honest clients are accused. */
export async function benchFarms(size: FarmsSize): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB', jit: 'off' }
  const { postgres, cpuSeconds, remove } = await startTemporaryServer('farms', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0 })
  try {
    await migrate(postgres.databaseUrl)
    const history = generateHistory(size)
    say(
      `storing ${history.rated.length} feedbacks of ${history.clients.size} clients, and ${history.paid.length} payments`,
    )
    await storeHistory(pool, history)
    await pool.query('vacuum (analyze)')
    const before = cpuSeconds()
    const began = performance.now()
    await deriveRates(pool)
    const seconds = (performance.now() - began) / 1_000
    say(`derived in ${seconds.toFixed(1)} s, ${(cpuSeconds() - before).toFixed(1)} CPU s of the server`)
    const { farms, honest, accused } = await measureFlags(pool, history)
    const percent = (part: number | null) => (part === null ? '–' : `${(100 * part).toFixed(2)} %`).padStart(9)
    say('\nmake or habit              clients  flagged   recall  precision  rules')
    for (const { kind, clients, flagged, recall, precision, rules } of farms)
      say(`${line(kind, clients, flagged)} ${percent(recall)} ${percent(precision)}  ${JSON.stringify(rules)}`)
    for (const { kind, clients, flagged, rules } of honest)
      say(`${line(kind, clients, flagged)}                      ${JSON.stringify(rules)}`)
    const recall = Object.fromEntries(farms.map((farm) => [farm.kind, Number(farm.recall.toFixed(4))]))
    say(
      JSON.stringify({ accused_per_1000: Number((1_000 * accused).toFixed(3)), recall, seconds: Math.round(seconds) }),
    )
  } finally {
    await pool.end()
    await remove()
  }
}

const line = (kind: string, clients: number, flagged: number) =>
  `${kind.padEnd(26)} ${`${clients}`.padStart(7)} ${`${flagged}`.padStart(8)}`

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
