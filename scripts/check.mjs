// @ts-check
// npm run check: types, then lint and format, then the client's types. All are always shown.
import { spawnSync } from 'node:child_process'
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
  for (const check of checks) {
    const { status } = spawnSync(process.execPath, check, { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
