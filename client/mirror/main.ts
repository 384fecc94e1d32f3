import { parseArgs } from 'node:util'
import { addressOf, mirrorOptions, runMirror, UsageError } from '../mirror-command.ts'
import { oneLine } from '../rows.ts'

const usage = `
npm run mirror -- --api URL --file F [--follow] [--from log|snapshot] [--log-key KEY] [--checkpoint C] [--every N]

Updates a file with all profiles of a service, and checks that its transparency log goes on from the checkpoint that is kept
next to the file: docs/log.md. The client's command agent-directory mirror is the same.

  --api URL         address of the service, https://… (or set AGENT_DIRECTORY_URL)
  --file F          the file; the last checkpoint is in F.log, and both sides of a contradiction in F.fork-…
  --follow          keeps it up to date, without end
  --from            what a new file starts from (log); a snapshot is made once a day
  --log-key KEY     key of the transparency log, as you know it (the first that was seen)
  --checkpoint C    file with a checkpoint of that log that another reader was shown
  --every N         seconds between two looks at that log with --follow (60)

Exit code 0: the file is up to date. 1: it is not, or the log contradicts what it signed before. 2: the arguments are wrong.
`

try {
  const { api, help, ...values } = read()
  if (help) process.stdout.write(`${usage.trim()}\n`)
  else await runMirror(addressOf(api, process.env.AGENT_DIRECTORY_URL), values)
} catch (error) {
  process.stderr.write(`${oneLine((error as Error).message)}\n`)
  process.exit(error instanceof UsageError ? 2 : 1) // a mirror that follows may still have a stream open
}

function read() {
  try {
    const options = { ...mirrorOptions, api: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ options }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('\n')[0]} (see --help)`)
  }
}
