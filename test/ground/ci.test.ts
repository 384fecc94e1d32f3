import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

const passedFile = { status: 'passed', assertionResults: [{}] }
const file = { status: 'failed', name: join(root, 'test/one.test.ts'), message: 'does not load' }
const failedTest = { status: 'failed', fullName: 'adds', failureMessages: ['\u001b[31mexpected 1\nto be 2'] }

test('all tests and steps passed: the counts, and exit code 0', () => {
  expect(count({ testResults: [passedFile], numPassedTests: 3, numFailedTests: 0 })).toEqual(['3 passed, 0 failed', 0])
})

test('failed tests, files that do not load or set up, and failed steps count alike', () => {
  const failed = { ...file, assertionResults: [failedTest, failedTest] }
  const unloaded = { ...file, assertionResults: [] }
  const notSetUp = { ...file, assertionResults: [{ status: 'skipped' }] }
  const report = { testResults: [passedFile, failed, unloaded, notSetUp], numPassedTests: 3, numFailedTests: 2 }
  expect(count(report, { exitCode: 1, steps: 1 })).toEqual(['3 passed, 5 failed', 1])
})

test('what failed is named with the start of its message, above the last line', () => {
  const report = { testResults: [{ ...file, assertionResults: [failedTest] }], numPassedTests: 1, numFailedTests: 1 }
  expect(printedOf(report)).toBe('!! test/one.test.ts: adds\n   expected 1\n   to be 2\n1 passed, 1 failed\n')
  const unloaded = { testResults: [{ ...file, assertionResults: [] }], numPassedTests: 1, numFailedTests: 0 }
  expect(printedOf(unloaded)).toBe('!! test/one.test.ts: (the file)\n   does not load\n1 passed, 1 failed\n')
  const untried = { status: 'skipped', ancestorTitles: ['a chain', 'added by a file'] }
  const notSetUp = { ...file, message: '', assertionResults: [{ status: 'passed' }, untried, untried] }
  const beside = { testResults: [notSetUp], numPassedTests: 1, numFailedTests: 0 }
  expect(printedOf(beside)).toContain('(the file)\n   set-up failed: a chain > added by a file\n1 passed')
})

test('a run that ended badly without a failed test is a failure', () => {
  const report = { testResults: [passedFile], numPassedTests: 3, numFailedTests: 0 }
  expect(count(report, { exitCode: 1 })).toEqual(['3 passed, 1 failed', 1])
})

test('a run that left no report, or had no test, is a failure', () => {
  expect(count(undefined, { exitCode: 137 })).toEqual(['0 passed, 1 failed', 1])
  expect(count({ testResults: [], numPassedTests: 0, numFailedTests: 0 })).toEqual(['0 passed, 0 failed', 1])
})

test('two runs are counted together, and one that is well does not hide one that is not', () => {
  const well = { testResults: [passedFile], numPassedTests: 3, numFailedTests: 0 }
  expect(countAll([{ report: well }, { report: { ...well, numPassedTests: 4 } }])).toEqual(['7 passed, 0 failed', 0])
  expect(countAll([{ report: well }, { exitCode: 1 }])).toEqual(['3 passed, 1 failed', 1])
})

interface Run {
  /** Vitest's JSON report; absent: the run left none. */
  readonly report?: object
  readonly exitCode?: number
}

function count(report: object | undefined, { exitCode = 0, steps = 0 } = {}) {
  return countAll([{ report, exitCode }], steps)
}

/** Last line and exit code of the count over some runs; `steps`: steps of CI that failed before. */
function countAll(runs: readonly Run[], steps = 0) {
  const { stdout, status } = run(runs, steps)
  return [stdout.trimEnd().split('\n').at(-1), status]
}

function printedOf(report: object) {
  return run([{ report, exitCode: 1 }], 0).stdout
}

function run(runs: readonly Run[], steps: number) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-ci-'))
  const args = runs.flatMap(({ report, exitCode = 0 }, at) => {
    const file = join(folder, `${at}.json`)
    if (report) writeFileSync(file, JSON.stringify(report))
    return [file, String(exitCode)]
  })
  const script = join(root, '.ci/count.mjs')
  const ended = spawnSync(process.execPath, [script, String(steps), ...args], { encoding: 'utf8', cwd: root })
  rmSync(folder, { recursive: true })
  return ended
}
