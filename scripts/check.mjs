// @ts-check
// npm run check: types, then lint and format. Both are always shown.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const checks = [
  ['node_modules/typescript/bin/tsc', '--noEmit'],
  ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
]

if (process.argv.includes('--help')) {
  console.log(
    'npm run check\n\nTypes (tsc), then lint and format (biome). Changes nothing; ends with 1 when one of them objects.',
  )
} else if (process.argv.length > 2) {
  console.error(`npm run check takes no arguments; ${process.argv[2]} is not one (--help shows what it does)`)
  process.exitCode = 2
} else {
  for (const check of checks) {
    const { status } = spawnSync(process.execPath, check, { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
