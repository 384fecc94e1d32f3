import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What reads the sources alone: nothing of one file can change another's. */
const house = ['test/boundaries.test.ts', 'test/house/**/*.test.ts']
/** What waits for deadlines, outages and kills, minutes in all; docs/testing.md lists it. */
const enduring = 'test/**/*.endurance.test.ts'
const endurance = process.env.ENDURANCE === '1'
/** What measures the memory of its process, adds a chain to it, or starts all of the local world has its own worker. */
const alone = ['test/claim/bodies.test.ts', 'test/chain/eighth-chain.test.ts', 'test/devnet/start.test.ts']

/** A server for the databases and compiled sources for what is started; five files at a time keep two cores busy. */
const equipped = {
  globalSetup: ['test/support/compile/sources.ts', 'test/support/database-server.ts'],
  provide: { endurance },
  maxWorkers: 5,
  sequence: { groupOrder: 1 },
}

export default defineConfig({
  test: {
    // Generous: a slow machine fails no test, and what hangs fails all the same.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // What each worker imports from packages is compiled once.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        // One worker for all of them: the sources are parsed once.
        test: { name: 'house', include: house, isolate: false, maxWorkers: 1, sequence: { groupOrder: 0 } },
      },
      // Tests leave nothing behind in their process: files share a worker, which imports the sources once.
      {
        extends: true,
        test: {
          name: 'sharing',
          include: ['test/**/*.test.ts'],
          exclude: [...house, ...alone, enduring],
          isolate: false,
          ...equipped,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: endurance ? [...alone, enduring] : alone, ...equipped },
      },
    ],
  },
})
