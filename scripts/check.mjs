// @ts-check
// npm run check: types, then lint and format, then the client's types. All are always shown.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.mjs'

const usage = `
npm run check

Checks types (tsc), then lint and format (biome), then that the client's types match openapi.json. Changes nothing; exits
with 1 if any of them fails.
`
const root = fileURLToPath(new URL('..', import.meta.url))
const checks = [
  ['node_modules/typescript/bin/tsc', '--noEmit'],
  ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['scripts/client-types.mjs'],
]

if (readArguments(usage)) {
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 }
  // All at once, as each keeps about one core busy; what they print stays apart.
  for (const check of checks) {
    execFile(process.execPath, check, options, (error, stdout, stderr) => {
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      if (error) process.exitCode = 1
    })
  }
}
