// node .ci/count.mjs <vitest's JSON> <vitest's exit code> <other failures>: prints "N passed, N failed".
import { readFileSync } from 'node:fs'

const [file, exitCode, others] = process.argv.slice(2)
let { passed, failed } = count(file)
// A run that failed without a failed test (a crash, an unhandled error, no result at all) is one failure.
if (exitCode !== '0' && failed === 0) failed = 1
failed += Number(others)
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
  return { passed: report.numPassedTests, failed: report.numFailedTests + report.testResults.filter(isBroken).length }
}
