// @ts-check
// npm run test:endurance: the tests that repeat themselves, with all of their rounds.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `
npm run test:endurance [-- --report <file>]

Runs what npm test repeats a few times as often as docs/testing.md says: kills, random histories, generated requests.
With --report the results are also written to the file, as JSON.
`
const values = readArguments(usage, { report: { type: 'string' } })
if (values) {
  process.env.ENDURANCE = '1'
  const report = values.report ? ['--reporter=default', '--reporter=json', `--outputFile.json=${values.report}`] : []
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...repeating(), ...report)
  await import('./test.mjs')
}

/** Tests that have rounds. */
function repeating() {
  const files = readdirSync(join(root, 'test'), { recursive: true }).map((file) => `test/${file}`)
  return files.filter(
    (file) => file.endsWith('.test.ts') && /\brounds\(\d/.test(readFileSync(join(root, file), 'utf8')),
  )
}
