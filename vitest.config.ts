import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/tools/database-server.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file starts real processes; two cores are shared by all of them.
    maxWorkers: 2,
    passWithNoTests: false,
  },
})
