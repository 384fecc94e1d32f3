// @ts-check
// npm run test:endurance: the tests that take long, and those that repeat themselves with all of their rounds.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `
npm run test:endurance [-- --report <file>]

Runs the tests that wait for deadlines, outages and kills, and repeats random histories and generated requests as often as
docs/testing.md says; npm test repeats them only a few times.
With --report the results are also written to the file, as JSON.
`
const values = readArguments(usage, { report: { type: 'string' } })
if (values) {
  process.env.ENDURANCE = '1'
  const report = values.report ? ['--reporter=default', '--reporter=json', `--outputFile.json=${values.report}`] : []
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...enduring(), ...report)
  await import('./test.mjs')
}

/** Test files that only this command runs, and those that repeat themselves in rounds. */
function enduring() {
  const files = readdirSync(join(root, 'test'), { recursive: true }).map((file) => `test/${file}`)
  const hasRounds = (/** @type {string} */ file) => /\brounds\(\d/.test(readFileSync(join(root, file), 'utf8'))
  return files.filter((file) => file.endsWith('.test.ts') && (file.endsWith('.endurance.test.ts') || hasRounds(file)))
}
