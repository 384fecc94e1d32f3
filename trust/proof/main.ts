import { readFile, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { noteIn } from '../../transparency/log-memory.ts'
import type { CheckLine } from './line.ts'
import type { ClaimProof } from './proof.ts'

const usage = `
npm run verify-proof -- FILE [--rpc-10 URL] [--rpc-CHAIN URL]… [--hub URL]… [--host URL] [--log-key KEY]
                            [--checkpoint FILE|URL] [--log URL] [--witness KEY]…
npm run verify-proof -- --self-test

Checks the proof of a claim (GET /api/agent/FID/proof, saved to FILE) and prints one line for each check. It asks only the
nodes, hubs and hosts named here, needs no database and trusts no service.

  --rpc-CHAIN URL   a node of the chain with this id: 10 for keys and custody, a contract wallet's own chain for the wallet
  --hub URL         a hub of the network: checks that it still has the messages
  --host URL        the host of a manifest, for example https://agent.example: checks that it still serves it
  --log-key KEY     the key of the service's transparency log, as you know it from /log/key: checks that it signed the log
  --checkpoint C    a checkpoint of that log that you were shown before, or somebody else was, in a file or at an address:
                    checks that both are of one history
  --log URL         where the log's files are, for example https://api.example/log: two trees of different sizes take some
  --witness KEY     key of a witness that you trust: checks that it has cosigned the log
  --self-test       makes the same checks on messages that are known to hold, and on others that are known not to

Exit code 0: everything held. 1: a check failed. 2: the arguments are wrong. 3: no check failed, but not everything could be
checked, for example because a node was not named or did not answer.
`
/** Many times what a proof can have: it stops files that are no proofs. */
const mostProofBytes = 64 * 1024 * 1024

const { file, checkpoint: from, ...askable } = readArguments(process.argv.slice(2))
const lines = file === undefined ? await checkItself() : await check(await readProof(file))
for (const line of lines) console.log(shown(line))
const count = (ending: CheckLine['outcome']) => lines.filter(({ outcome }) => outcome === ending).length
const failed = count('failed')
const unanswered = count('unanswered')
const open = count('unknown')
console.log(`${count('held')} held, ${failed} failed, ${unanswered} without an answer, ${open} not asked`)
const { exitCodeOf } = await import('./verify.ts')
process.exitCode = exitCodeOf(lines)

async function checkItself(): Promise<CheckLine[]> {
  const { selfTest } = await import('./self-test.ts')
  return selfTest()
}

async function check(proof: ClaimProof): Promise<CheckLine[]> {
  const { verify } = await import('./verify.ts') // loaded late: --help needs no signature library
  try {
    return await verify(proof, { ...askable, checkpoint: from === undefined ? undefined : await readNote(from) })
  } catch (error) {
    return refuse(`${file} cannot be checked: ${(error as Error).message}`)
  }
}

function shown({ name, outcome, detail }: CheckLine): string {
  const word = { held: 'held', failed: 'FAILED', unanswered: 'no answer', unknown: 'not asked' }[outcome]
  return `${word.padEnd(9)}  ${oneLine(`${name}${detail ? ` (${detail})` : ''}`)}`
}

/** Replaces what a terminal obeys by spaces: else texts of the file could pass for further lines, or hide some. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
}

interface Given {
  readonly checkpoint?: string
  readonly log?: string
  readonly witness?: string[]
}

function readArguments(args: string[]) {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage.trim())
    process.exit(0)
  }
  const chains = args.flatMap((argument) => /^--rpc-([1-9][0-9]*)(=|$)/.exec(argument)?.[1] ?? [])
  const options = Object.fromEntries(chains.map((id) => [`rpc-${id}`, { type: 'string' as const }]))
  try {
    const { values, positionals } = parseArgs({
      args,
      options: {
        ...options,
        hub: { type: 'string', multiple: true },
        host: { type: 'string' },
        'log-key': { type: 'string' },
        checkpoint: { type: 'string' },
        log: { type: 'string' },
        witness: { type: 'string', multiple: true },
        'self-test': { type: 'boolean' },
      },
      allowPositionals: true,
    })
    const [file, surplus] = positionals
    const isSelfTest = values['self-test'] === true
    if (!file && !isSelfTest) throw new Error('name the file with the proof')
    if (file && isSelfTest) throw new Error(`--self-test takes no ${file}`)
    if (surplus !== undefined) throw new Error(`unexpected argument ${surplus}`)
    const hubs = (values.hub ?? []) as string[]
    const rpc = new Map(chains.map((id) => [Number(id), String((values as Record<string, unknown>)[`rpc-${id}`])]))
    const host = values.host as string | undefined
    const logKey = values['log-key'] as string | undefined
    const { checkpoint, log: logUrl, witness: witnesses = [] } = values as Given
    for (const url of [...hubs, ...rpc.values(), ...[host, logUrl].filter((one) => one !== undefined)])
      if (!URL.canParse(url)) throw new Error(`${url} is no address`)
    return { file, hubs, rpc, host, logKey, checkpoint, logUrl, witnesses }
  } catch (error) {
    return refuse((error as Error).message)
  }
}

/** A checkpoint in a file or at an address. */
async function readNote(from: string): Promise<string> {
  const { fetchedBytes } = await import('./ask.ts')
  try {
    return noteIn(String(await (/^https?:/.test(from) ? fetchedBytes(from) : readFile(from))))
  } catch (error) {
    return refuse(`${from} cannot be read as a checkpoint: ${(error as Error).message}`)
  }
}

async function readProof(path: string): Promise<ClaimProof> {
  try {
    if ((await stat(path)).size > mostProofBytes) return refuse(`${path} is larger than ${mostProofBytes} bytes`)
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    return refuse(`${path} cannot be read as a proof: ${(error as Error).message}`)
  }
}

function refuse(problem: string): never {
  console.error(`${oneLine(problem)} (see --help)`)
  process.exit(2)
}
