import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests that only read source files, so that they cannot affect each other. */
const house = ['test/boundaries.test.ts', 'test/house/**/*.test.ts']
/** Tests that wait for deadlines, outages and kills, or need the whole world; docs/testing.md lists them. */
const enduring = 'test/**/*.endurance.test.ts'
const endurance = process.env.ENDURANCE === '1'
/** Tests that need a worker of their own: they add a chain to their process, or start the whole local world. */
const alone = [
  'test/chain/ready/dollars.test.ts',
  ...(endurance
    ? [
        'test/chain/eighth-chain.endurance.test.ts',
        'test/chain/ready/all.endurance.test.ts',
        'test/devnet/start.endurance.test.ts',
      ]
    : []),
]

/** Tests that measure response times; they run after everything else, two at a time. */
const quiet = endurance
  ? [
      'test/api/http/bursts.test.ts',
      'test/api/http/database-faults.endurance.test.ts',
      'test/claim/outages.endurance.test.ts',
    ]
  : []

/** The slowest tests, the slowest first: begun late, each would run on alone while one core idles. */
const long = [
  'test/ground/image.endurance.test.ts',
  'test/chain/faults.endurance.test.ts',
  'test/ground/printed.endurance.test.ts',
  'test/pages/browser.endurance.test.ts',
  'test/db/released.endurance.test.ts',
  'test/chain/reset.endurance.test.ts',
  'test/ground/build.endurance.test.ts',
  'test/chain/backfill-crashes.endurance.test.ts',
  'test/chain/crashes.endurance.test.ts',
  'test/chain/postgres-crashes.endurance.test.ts',
  'test/enrichment/rollup/histories/equality.test.ts',
  'test/client/mirror.endurance.test.ts',
  'test/chain/nodes.endurance.test.ts',
  'test/processors/scope/repairs.endurance.test.ts',
  'test/processors/reset/sources.endurance.test.ts',
  'test/enrichment/rollup/kills.endurance.test.ts',
  'test/processors/scope/killed.endurance.test.ts',
  'test/ops/promtool.endurance.test.ts',
  'test/chain/scope/faults.endurance.test.ts',
  'test/enrichment/rollup/histories/figures.test.ts',
  'test/chain/reorgs.test.ts',
  'test/processors/portal/handover.endurance.test.ts',
  'test/chain/scope/scope.endurance.test.ts',
  'test/api/mcp/conformance.test.ts',
  'test/enrichment/budget.endurance.test.ts',
  'test/enrichment/scheduler-workers.endurance.test.ts',
  'test/derive/agents/agents.test.ts',
  'test/chain/deep-forks.endurance.test.ts',
  'test/processors/portal/faults.endurance.test.ts',
  'test/api/fuzz.test.ts',
  'test/client/package.endurance.test.ts',
  'test/postgres/embedded.endurance.test.ts',
  'test/devnet/interrupted.endurance.test.ts',
  'test/api/reading/walks.test.ts',
  'test/ops/dead-links.endurance.test.ts',
  'test/enrichment/one-broken.endurance.test.ts',
  'test/stack/main.endurance.test.ts',
  'test/chain/start.endurance.test.ts',
  'test/processors/backfill/abandon.endurance.test.ts',
  'test/export/archive/kills.endurance.test.ts',
  'test/processors/backfill/kills.endurance.test.ts',
  'test/chain/disk-full.endurance.test.ts',
  'test/export/memory.endurance.test.ts',
  'test/processors/backfill/all.endurance.test.ts',
  'test/processors/lock.endurance.test.ts',
  'test/claim/withdraw.test.ts',
  'test/enrichment/upstreams/faults.endurance.test.ts',
  'test/enrichment/claims.test.ts',
  'test/processors/scope/scope.test.ts',
  'test/ground/commands.test.ts',
  'test/enrichment/process.test.ts',
]

/** Begins with the tests of `long`: a fresh clone has no recorded durations and would begin with the largest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex((path) => moduleId.endsWith(`/${path}`))
      return at < 0 ? long.length : at
    }
    // Projects stay together: a worker continues with files of its own project alone.
    const order = await super.sort(files)
    const projects = [...new Set(order.map(({ project }) => project))]
    return projects.flatMap((project) =>
      order.filter((file) => file.project === project).sort((one, other) => rank(one) - rank(other)),
    )
  }
}

/** Projects that need a database server and compiled sources; so many files at a time keep two cores busy. */
const equipped = {
  globalSetup: [
    'test/support/compile/sources.ts',
    'test/support/compile/contracts.ts',
    'test/support/database-server.ts',
  ],
  provide: { endurance },
  maxWorkers: endurance ? 6 : 5,
  sequence: { groupOrder: 1 },
}

export default defineConfig({
  // Vite would take the form for bundlers, and packages that load the other one would not know its types.
  resolve: { alias: { graphql: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)) } },
  test: {
    // Longer than the timeouts within a test, whose messages say what hung.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 300_000 } },
    // Packages that every worker imports are compiled once.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    // Of a file with such a test an endurance run leaves out all others, which `npm test` has run as they are.
    tags: [{ name: 'rounds', description: 'repeats itself as often as `rounds` says', only: endurance }],
    ...(endurance && { allowOnly: true }),
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
          exclude: [...house, ...alone, ...quiet, ...(endurance ? [] : [enduring])],
          isolate: false,
          ...equipped,
        },
      },
      { extends: true, test: { name: 'alone', include: alone, ...equipped } },
      ...(endurance
        ? [
            {
              extends: true as const,
              test: { name: 'quiet', include: quiet, ...equipped, maxWorkers: 2, sequence: { groupOrder: 2 } },
            },
          ]
        : []),
    ],
  },
})
