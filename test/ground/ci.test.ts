import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

const passedFile = { status: 'passed', assertionResults: [{}] }

test('all tests and steps passed: the counts, and exit code 0', () => {
  expect(count({ testResults: [passedFile], numPassedTests: 3, numFailedTests: 0 })).toEqual(['3 passed, 0 failed', 0])
})

test('failed tests, files that do not load or set up, and failed steps count alike', () => {
  const failed = { status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'failed' }] }
  const unloaded = { status: 'failed', assertionResults: [] }
  const notSetUp = { status: 'failed', assertionResults: [{ status: 'skipped' }] }
  const report = { testResults: [passedFile, failed, unloaded, notSetUp], numPassedTests: 3, numFailedTests: 2 }
  expect(count(report, { exitCode: 1, steps: 1 })).toEqual(['3 passed, 5 failed', 1])
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
  /** Absent: it left none. */
  readonly report?: object
  readonly exitCode?: number
}

function count(report: object | undefined, { exitCode = 0, steps = 0 } = {}) {
  return countAll([{ report, exitCode }], steps)
}

/** Last line and exit code of the count of some runs, after so many steps that failed. */
function countAll(runs: readonly Run[], steps = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-ci-'))
  const args = runs.flatMap(({ report, exitCode = 0 }, at) => {
    const file = join(folder, `${at}.json`)
    if (report) writeFileSync(file, JSON.stringify(report))
    return [file, String(exitCode)]
  })
  const script = join(root, '.ci/count.mjs')
  const { stdout, status } = spawnSync(process.execPath, [script, String(steps), ...args], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return [stdout.trimEnd().split('\n').at(-1), status]
}
