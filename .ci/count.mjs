// node .ci/count.mjs <other failures> (<vitest's JSON> <vitest's exit code>)...: prints each failed test with the
// start of its message, then "N passed, N failed".
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [others, ...runs] = process.argv.slice(2)
let passed = 0
let failed = Number(others)
while (runs.length > 0) {
  const [file, exitCode] = runs.splice(0, 2)
  const counted = count(file)
  passed += counted.passed
  // A run that failed without a failed test (a crash, an unhandled error, no result at all) is one failure.
  failed += exitCode !== '0' && counted.failed === 0 ? 1 : counted.failed
}
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
console.log(`${passed} passed, ${failed} failed`)

function count(path) {
  let report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { passed: 0, failed: 1 }
  }
  // A file that does not load, or whose set-up fails, has no failed test.
  const isBroken = ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
  for (const { name, message, assertionResults, ...file } of report.testResults) {
    if (isBroken({ ...file, assertionResults })) say(name, '(the file)', message || neverBegan(assertionResults))
    for (const test of assertionResults)
      if (test.status === 'failed') say(name, test.fullName, test.failureMessages.join('\n'))
  }
  return { passed: report.numPassedTests, failed: report.numFailedTests + report.testResults.filter(isBroken).length }
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
