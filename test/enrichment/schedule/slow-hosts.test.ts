import { expect, onTestFinished, test } from 'vitest'
import { sources } from '../../../config/sources.ts'
import { addSubjects } from '../../../db/queries/sources/source-state.ts'
import { createPasses } from '../../../enrichment/schedule/passes.ts'
import type { Source } from '../../../enrichment/schedule/source.ts'
import { createHost } from '../../../hosts/host.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const now = () => new Date()

test.each(['specs', 'agentUri', 'feedbackFiles'] as const)(
  'hosts that take long hold up no others: %s',
  async (key) => {
    const { pool } = database
    let release = () => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    const row = sources[key]
    const source: Source = {
      ...row,
      host: createHost({ name: key, requestsPerSecond: 10_000 }),
      async read([leased]) {
        const { subject } = leased!
        if (subject.startsWith('slow')) await slow
        return { outcome: subject, write: async () => row.retry.capMs }
      },
    }
    const passes = createPasses(source, { pool, now, random: () => 0.5, failed: () => {} })
    onTestFinished(() => passes.ended())
    onTestFinished(release)
    const slowOnes = Array.from({ length: row.batch }, (_, index) => `slow-${index}`)
    for (const subject of [...slowOnes, 'quick']) {
      await addSubjects(pool, row.name, [subject], { priority: 0, dueAt: now() })
    }
    const first = await passes.run()
    const second = await passes.run()
    expect([...first.outcomes, ...second.outcomes]).toEqual(['quick'])
  },
)
