import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/compile.ts', 'test/support/database-server.ts'],
    provide: { endurance: process.env.ENDURANCE === '1' },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file starts real processes and waits for them: three at a time keep two cores busy.
    maxWorkers: 3,
    passWithNoTests: false,
  },
})
