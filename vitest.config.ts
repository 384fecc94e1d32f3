import { defineConfig } from 'vitest/config'

/** What reads the sources alone: nothing of one file can change another's. */
const house = ['test/boundaries.test.ts', 'test/house/**/*.test.ts']
/** What waits for deadlines, outages and kills, minutes in all; docs/testing.md lists it. */
const enduring = 'test/**/*.endurance.test.ts'
const endurance = process.env.ENDURANCE === '1'

export default defineConfig({
  test: {
    // Generous: a slow machine fails no test, and what hangs fails all the same.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        // One worker for all of them: the sources are parsed once.
        test: { name: 'house', include: house, isolate: false, maxWorkers: 1, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: endurance ? house : [...house, enduring],
          globalSetup: ['test/support/compile.ts', 'test/support/database-server.ts'],
          provide: { endurance },
          // Each file starts real processes and waits for them: three at a time keep two cores busy.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
