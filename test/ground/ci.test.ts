import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

const passedFile = { status: 'passed', assertionResults: [{}] }
const file = { status: 'failed', name: join(root, 'test/one.test.ts'), message: 'does not load' }
const passedTest = { status: 'passed', fullName: 'subtracts' }
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
  const whole = { testResults: [notSetUp], numPassedTests: 1, numFailedTests: 0 }
  expect(printedOf(whole)).toContain('(the file)\n   set-up failed: a chain > added by a file\n1 passed')
})

test('files that take a minute or more are named, the slowest first', () => {
  const taking = (seconds: number) => ({
    ...passedFile,
    name: join(root, `test/${seconds}.test.ts`),
    startTime: 5_000,
    endTime: 5_000 + seconds * 1_000,
  })
  const report = { testResults: [59, 60, 300].map(taking), numPassedTests: 3, numFailedTests: 0 }
  expect(printedOf(report)).toMatch(/^slow: 300 s test.300.test.ts\nslow: 60 s test.60.test.ts\n3 passed/)
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

test('a test that passes once its file runs alone counts as passed, and is named as flaky', () => {
  const failed = { ...file, assertionResults: [failedTest, passedTest] }
  const again = [
    { fullName: 'adds', status: 'passed' },
    { fullName: 'subtracts', status: 'passed' },
  ]
  const report = { testResults: [{ ...failed, again }], numPassedTests: 1, numFailedTests: 1 }
  expect(count(report, { exitCode: 1 })).toEqual(['2 passed, 0 failed', 0])
  expect(printedOf(report)).toBe('flaky: test/one.test.ts: adds\n2 passed, 0 failed\n')
  const stillFailed = { ...report, testResults: [{ ...failed, again: [{ fullName: 'adds', status: 'failed' }] }] }
  expect(count(stillFailed, { exitCode: 1 })).toEqual(['1 passed, 1 failed', 1])
})

test('a file that loads at the second try counts with the tests that it has then', () => {
  const again = [{ fullName: 'adds', status: 'passed' }]
  const report = { testResults: [{ ...file, assertionResults: [], again }], numPassedTests: 0, numFailedTests: 0 }
  expect(count(report, { exitCode: 1 })).toEqual(['1 passed, 0 failed', 0])
  expect(printedOf(report)).toContain('flaky: test/one.test.ts: (the file)\n')
  const nothing = { ...report, testResults: [{ ...file, assertionResults: [], again: [] }] }
  expect(count(nothing, { exitCode: 1 })).toEqual(['0 passed, 1 failed', 1])
})

test('a test counts as flaky only where all of its name pass the second time', () => {
  const again = [
    { fullName: 'adds', status: 'passed' },
    { fullName: 'adds', status: 'failed' },
  ]
  const failed = { ...file, message: '', assertionResults: [failedTest, failedTest], again }
  expect(count({ testResults: [failed], numPassedTests: 1 }, { exitCode: 1 })).toEqual(['1 passed, 2 failed', 1])
})

test('only the tests that failed run again, each file alone, and their second result goes into the report', () => {
  const named = { ...failedTest, ancestorTitles: ['sums (all)'], title: 'adds 1 + 1 | [2]' }
  const one = { ...file, message: '', assertionResults: [named, { ...passedTest, title: 'subtracts' }] }
  const many = { ...one, name: join(root, 'test/many.test.ts'), assertionResults: Array(11).fill(named) }
  const other = { ...file, name: join(root, 'test/other.test.ts'), assertionResults: [] }
  const passed = { ...passedFile, name: join(root, 'test/passed.test.ts') }
  const { asked, again, taken } = runAgain([one, passed, many, other])
  expect(asked).toEqual([
    ['test/one.test.ts', '-t', '^(sums \\(all\\) > adds 1 \\+ 1 \\| \\[2\\])$'],
    ['test/many.test.ts'],
    ['test/other.test.ts'],
  ])
  expect(again).toEqual([[{ fullName: 'adds', status: 'passed' }], undefined, [], []])
  expect(taken).toBeGreaterThan(0)
})

test('nothing runs again after 15 minutes of it, and counts as it is', () => {
  const failed = { ...file, message: '', assertionResults: [{ ...failedTest, ancestorTitles: [], title: 'adds' }] }
  const { asked, again } = runAgain([failed], { takenBefore: 15 * 60_000 })
  expect([asked, again]).toEqual([[], [[]]])
  const report = { testResults: [{ ...failed, again: [] }], numPassedTests: 1, numFailedTests: 1 }
  expect(count(report, { exitCode: 1 })).toEqual(['1 passed, 1 failed', 1])
})

/** What is run for some files of a report, what is then noted of them, and the milliseconds that this has taken. */
function runAgain(testResults: readonly object[], { takenBefore = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-ci-'))
  const path = join(folder, 'report.json')
  const takenPath = join(folder, 'again.milliseconds')
  writeFileSync(path, JSON.stringify({ testResults }))
  writeFileSync(takenPath, String(takenBefore))
  // Stands for `npm test --`: leaves a report for one of the files, none for the others.
  const stand = join(folder, 'run.mjs')
  const askedPath = join(folder, 'asked')
  writeFileSync(askedPath, '')
  const answer = JSON.stringify({ testResults: [{ assertionResults: [{ fullName: 'adds', status: 'passed' }] }] })
  writeFileSync(
    stand,
    `import { appendFileSync, writeFileSync } from 'node:fs'
    const words = process.argv.slice(2)
    const asked = words.filter((word) => !word.startsWith('--'))
    appendFileSync(${JSON.stringify(askedPath)}, JSON.stringify(asked) + '\\n')
    const output = words.find((option) => option.startsWith('--outputFile.json=')).split('=')[1]
    if (asked[0] === 'test/one.test.ts') writeFileSync(output, ${JSON.stringify(answer)})`,
  )
  const script = join(root, '.ci/again.mjs')
  spawnSync(process.execPath, [script, path, process.execPath, stand], { cwd: root })
  const ran = {
    asked: readFileSync(askedPath, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line): string[] => JSON.parse(line)),
    again: JSON.parse(readFileSync(path, 'utf8')).testResults.map(({ again }: { again?: object[] }) => again),
    taken: Number(readFileSync(takenPath, 'utf8')),
  }
  rmSync(folder, { recursive: true })
  return ran
}

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
