#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { AgentDirectory } from './client.ts'
import { addressOf, mirrorOptions, runMirror, UsageError } from './mirror-command.ts'
import { type Format, formats, jsonText, oneLine, written } from './rows.ts'

const usage = `
agent-directory agents       [--q TEXT] [--chain C]... [--claimed true|false] [--sort S]
agent-directory agent FID | @HANDLE
agent-directory settlements  --fid N | --payer A | --recipient A | --facilitator A | --tx-hash H   [--since T] [--chain C]...
agent-directory mirror       --file F [--follow]   updates a file with all profiles; --follow keeps it up to date
                             [--from log|snapshot] what a new file starts from (log); a snapshot is made once a day
                             [--log-key KEY] key of the transparency log, as you know it (the first that was seen)
                             [--checkpoint C] file with a checkpoint of that log that another reader was shown
                             [--every SECONDS] pause between two looks at that log with --follow (60)

  --api URL         address of the service, https://… (or set AGENT_DIRECTORY_URL)
  --format F        ${formats.join(', ')} (json)
  --limit N         most rows to print (20)
  --all             all rows, page after page
`

const text = { type: 'string' } as const
const options = {
  api: text,
  format: text,
  limit: text,
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  q: text,
  chain: { type: 'string', multiple: true },
  claimed: text,
  sort: text,
  fid: text,
  payer: text,
  recipient: text,
  facilitator: text,
  'tx-hash': text,
  since: text,
  ...mirrorOptions,
} as const
type Values = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>['values']

const pageRows = 100

// Whoever reads the output may leave before its end, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isLeft = error.code === 'EPIPE'
  if (!isLeft) process.stderr.write(`${error.message}\n`)
  process.exit(isLeft ? 0 : 1)
})

try {
  const { values, positionals } = read()
  if (values.help) process.stdout.write(`${usage.trim()}\n`)
  else await run(values, positionals)
} catch (error) {
  process.stderr.write(`${oneLine((error as Error).message)}\n`) // the service's own words may be in it
  process.exit(error instanceof UsageError ? 2 : 1) // a mirror that follows may still have a stream open
}

function read() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('\n')[0]} (see --help)`)
  }
}

async function run(values: Values, [command, ...rest]: string[]): Promise<void> {
  const api = addressOf(values.api, process.env.AGENT_DIRECTORY_URL)
  const surplus = rest[command === 'agent' ? 1 : 0]
  if (surplus !== undefined) throw new UsageError(`unexpected argument ${surplus}`)
  const directory = new AgentDirectory(api)
  const { format = 'json' } = values
  if (!formats.includes(format as Format)) throw new UsageError(`--format must be one of ${formats.join(', ')}`)
  const write = async (rows: AsyncIterable<object> | Iterable<object>) => {
    for await (const piece of written(
      rows as Iterable<Record<string, unknown>>,
      format as Format,
      process.stdout.isTTY,
    )) {
      if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve))
    }
  }
  if (command === 'agent') {
    const agent = await directory.agent(await fidIn(directory, rest[0] ?? ''))
    if (format === 'json') process.stdout.write(`${jsonText(agent, 2)}\n`)
    else await write([agent])
  } else if (command === 'agents') {
    await write(rows(directory.agents(agentFilters(values) as never), values))
  } else if (command === 'settlements') {
    await write(rows(directory.settlements(settlementFilters(values) as never), values))
  } else if (command === 'mirror') await runMirror(api, values)
  else throw new UsageError('the command is one of agents, agent, settlements, mirror (see --help)')
}

/** The FID that an argument names, itself or by a handle. Throws UsageError for anything else. */
async function fidIn(directory: AgentDirectory, named: string): Promise<number> {
  if (/^[1-9][0-9]*$/.test(named)) return Number(named)
  if (!/^@./.test(named)) throw new UsageError('agent takes a FID or a handle, such as 4207 or @ada')
  const fid = await directory.fidOf(named)
  if (fid === undefined) throw new Error(`no agent has the handle ${named}`)
  return fid
}

function agentFilters({ q, chain, claimed, sort = 'newest' }: Values) {
  const words: Record<string, string> = { true: 'claimed', false: 'unclaimed' }
  return { limit: pageRows, sort, q, chain, claimed: claimed === undefined ? undefined : words[claimed] }
}

function settlementFilters({ fid, payer, recipient, facilitator, since, chain, 'tx-hash': hash }: Values) {
  return { limit: pageRows, fid, payer, recipient, facilitator, tx_hash: hash, since, chain }
}

/** The first `limit` rows, or all of them. Throws UsageError for a limit that is no positive number. */
async function* rows<T>(all: AsyncIterable<T>, { limit = '20', all: isAll }: Values): AsyncGenerator<T> {
  const most = isAll ? Number.POSITIVE_INFINITY : Number(limit)
  if (!(most >= 1)) throw new UsageError('--limit must be a positive number')
  let count = 0
  for await (const row of all) {
    yield row
    if (++count >= most) return
  }
}
