// node .ci/count.mjs <other failures> (<vitest's JSON> <vitest's exit code>)...: prints each failed test with the
// start of its message, then the slowest files, each test that passed once its file ran alone (.ci/again.mjs), and
// "N passed, N failed".
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** Files that take so long are named, the slowest of each run: where to look when the gate takes long. */
const slowSeconds = 60
const mostSlow = 12

const [others, ...runs] = process.argv.slice(2)
let passed = 0
let failed = Number(others)
const flaky = []
while (runs.length > 0) {
  const [file, exitCode] = runs.splice(0, 2)
  const counted = count(file)
  passed += counted.passed
  // A run that failed without a failed test (a crash, an unhandled error, no result at all) is one failure.
  failed += exitCode !== '0' && counted.failed === 0 && counted.recovered === 0 ? 1 : counted.failed
}
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
for (const name of flaky) console.log(`flaky: ${name}`)
console.log(`${passed} passed, ${failed} failed`)

function count(path) {
  let report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, recovered: 0 }
  }
  const seconds = ({ startTime, endTime }) => Math.round((endTime - startTime) / 1_000)
  const slow = report.testResults.filter((result) => seconds(result) >= slowSeconds)
  for (const result of slow.toSorted((one, other) => seconds(other) - seconds(one)).slice(0, mostSlow))
    console.log(`slow: ${seconds(result)} s ${relative('.', result.name)}`)
  const counted = { passed: report.numPassedTests, failed: 0, recovered: 0 }
  for (const { name, message, status, assertionResults, again = [] } of report.testResults) {
    const failures = assertionResults.filter((test) => test.status === 'failed')
    const hasPassed = ({ fullName }) => {
      const results = again.filter((test) => test.fullName === fullName)
      return results.length > 0 && results.every((test) => test.status === 'passed')
    }
    for (const test of failures) {
      if (hasPassed(test)) recover(name, test.fullName, 1)
      else fail(name, test.fullName, test.failureMessages.join('\n'))
    }
    // A file that does not load, or whose set-up fails, has no failed test.
    if (status !== 'failed' || failures.length > 0) continue
    const passedBefore = assertionResults.filter((test) => test.status === 'passed').length
    if (again.length > passedBefore && again.every((test) => test.status === 'passed'))
      recover(name, '(the file)', again.length - passedBefore)
    else fail(name, '(the file)', message || neverBegan(assertionResults))
  }
  return counted

  function recover(file, test, tests) {
    counted.passed += tests
    counted.recovered += 1
    flaky.push(`${relative('.', file)}: ${test}`)
  }

  function fail(file, test, message) {
    counted.failed += 1
    say(file, test, message)
  }
}

/** vitest's JSON has no error of the set-up of a group, only its tests, which did not run. */
function neverBegan(tests) {
  const groups = tests
    .filter(({ status }) => status === 'skipped')
    .map(({ ancestorTitles }) => ancestorTitles.join(' > '))
  return `set-up failed: ${[...new Set(groups)].join(', ')}`
}

/** The first lines of a failure: the message and where it was thrown. */
function say(file, test, message) {
  const lines = stripVTControlCharacters(message).split('\n').slice(0, 12)
  console.log(`!! ${relative('.', file)}: ${test}\n${lines.map((line) => `   ${line}`).join('\n')}`)
}
