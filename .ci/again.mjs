// node .ci/again.mjs <vitest's JSON> <command>...: runs the failed tests of each file once more, alone, by the command,
// and adds the second results to the file's in the JSON, as `again`. What passes then fails only under other load.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** More failed files than this are no accident of timing: none is run again. */
const mostFiles = 12
/** What one file may take; longer counts as failed again. */
const fileTimeoutMilliseconds = 600_000
/** What all files of a gate may take together, by the folder of its reports: it has a limit, at which nothing is counted. */
const totalMilliseconds = 15 * 60_000
/** Of a file with more failed tests than this all run again: they have a cause in common. */
const mostNamed = 10

const [path, command, ...words] = process.argv.slice(2)
const report = read(path)
const failed = report?.testResults.filter(({ status }) => status === 'failed') ?? []
/** Holds the milliseconds that runs for reports of this folder have taken. */
const takenPath = join(dirname(path ?? ''), 'again.milliseconds')
if (failed.length > mostFiles) console.log(`${failed.length} files failed; none is run again`)
else for (const result of failed) result.again = runAgain(result)
if (report) writeFileSync(path, JSON.stringify(report))

/** The results of a file's failed tests in a run of their own; empty where it left none, or there was no time for it. */
function runAgain({ name, message, assertionResults }) {
  const file = relative('.', name)
  const taken = Number(read(takenPath) ?? 0)
  if (taken >= totalMilliseconds) {
    console.log(`\n== not run once more, as others took ${Math.round(taken / 60_000)} minutes: ${file}`)
    return []
  }
  console.log(`\n== once more, alone: ${file}`)
  const output = `${path}.again`
  rmSync(output, { force: true })
  const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`]
  const names = assertionResults.filter(({ status }) => status === 'failed').map(nameOf)
  // A message is an error of the file itself.
  if (!message && names.length > 0 && names.length <= mostNamed)
    options.push('-t', `^(${names.map(escaped).join('|')})$`)
  const begun = Date.now()
  const timeout = Math.min(fileTimeoutMilliseconds, totalMilliseconds - taken)
  spawnSync(command, [...words, file, ...options], { stdio: 'inherit', timeout })
  writeFileSync(takenPath, String(taken + Date.now() - begun))
  const results = read(output)?.testResults ?? []
  return results.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ fullName, status })),
  )
}

/** A test's name as vitest compares it with -t. */
function nameOf({ ancestorTitles, title }) {
  return [...ancestorTitles, title].join(' > ')
}

function escaped(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
