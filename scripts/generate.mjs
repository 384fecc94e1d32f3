// @ts-check
// npm run generate: writes the committed files that are made of others, or says which of them are out of date.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = ['node_modules/vitest/vitest.mjs', 'run']

/** Tests that compare a file with what it is made of, and write it with -u: each says which. */
const documents = [
  'test/api/openapi.test.ts',
  'test/ground/settings.test.ts',
  'test/house/changelog.test.ts',
  'test/house/endurance.test.ts',
  'test/house/kubernetes.test.ts',
  'test/house/rules.test.ts',
]
/** The same for what requests answer: a difference is one that clients notice, so look at it before you commit it. */
const answers = ['test/api/recorded/golden.test.ts', 'test/api/recorded/every-route.test.ts']

const writing = [
  ['scripts/codegen.mjs'],
  [...vitest, '-u', ...documents, ...answers],
  ['scripts/client-types.mjs', '--out', 'client/generated/types.gen.ts'], // of openapi.json, which is new by now
]
const checking = [
  [...vitest, 'test/ground/generated.test.ts', 'test/contract/contract.test.ts', ...documents, ...answers],
]

const usage = `
npm run generate [-- --check]
npm run generate -- deploy --chains LIST --out FOLDER

Writes what is made of other files: entities and decoders, openapi.json, the client's types, .env.example, CHANGELOG.md,
tables of docs, files for Kubernetes, recorded answers. CONTRIBUTING.md lists them. docs/sql.md, the pictures and the examples
need a database or a whole world, and have commands of their own: docs:sql, docs:pictures, docs:examples.

--check  changes nothing, and exits with 1 if one of them, or docs/sql.md, is out of date
deploy   writes the deployment files of an installation with other chains (deploy --help)
`

const [first, ...others] = process.argv.slice(2)
const values = first === 'deploy' ? undefined : readFlags()
if (first === 'deploy') {
  const main = fileURLToPath(new URL('../deploy/main.ts', import.meta.url))
  const { status } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...others], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else if (values) {
  for (const command of values.check ? checking : writing) {
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
    if (status !== 0) {
      process.exitCode = 1
      break
    }
  }
}

/** Undefined when there is nothing to do: `--help` was answered, or a wrong argument refused. */
function readFlags() {
  try {
    const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } })
    if (!values.help) return values
    console.log(usage.trim())
  } catch (error) {
    console.error(`${/** @type {Error} */ (error).message.split('\n')[0]} (see --help)`)
    process.exitCode = 2
  }
  return undefined
}
