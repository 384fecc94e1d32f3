// node .ci/again.mjs <vitest's JSON> <command>...: runs each test file with a failure once more, alone, by the command,
// and adds the second result to the file's in the JSON, as `again`. What passes then fails only beside other load.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** More failed files than this are no accident of timing: none is run again. */
const mostFiles = 12
/** What one file may take; longer counts as failed again. */
const fileTimeoutMilliseconds = 600_000

const [path, command, ...words] = process.argv.slice(2)
const report = read(path)
const failed = report?.testResults.filter(({ status }) => status === 'failed') ?? []
if (failed.length > mostFiles) console.log(`${failed.length} files failed; none is run again`)
else for (const result of failed) result.again = runAlone(relative('.', result.name))
if (report) writeFileSync(path, JSON.stringify(report))

/** The results of a file's tests in a run of its own; empty where that run left none. */
function runAlone(file) {
  console.log(`\n== once more, alone: ${file}`)
  const output = `${path}.again`
  rmSync(output, { force: true })
  const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`]
  spawnSync(command, [...words, file, ...options], { stdio: 'inherit', timeout: fileTimeoutMilliseconds })
  const results = read(output)?.testResults ?? []
  return results.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ fullName, status })),
  )
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
