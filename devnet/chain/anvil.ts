import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { folderOfProcess, foldersLeft } from '../../ops/leftovers.ts'

const package_ = '@foundry-rs/anvil-linux-amd64'
const startSeconds = 30
const stopSeconds = 5
const pollMs = 20
/** Prefix of a node's folder, which holds its genesis file and the states it writes after some hundred blocks. */
const nodeFolderPrefix = 'agent-directory-anvil'
/** Characters of the node's output that go into an error. */
const outputCharacters = 4_000

interface Anvil {
  /** JSON-RPC URL; the port answers HTTP and WebSocket. */
  readonly rpc: string
  readonly pid: number
  /** Resolves once the process and its folder are gone. */
  stop(): Promise<void>
}

interface AnvilOptions {
  readonly port: number
  /** Content of the genesis file. */
  readonly genesis: object
  /** Gas limit of a block; anvil ignores the one in the genesis file. */
  readonly gasLimit: number
  /** Seconds between blocks; absent: a block as soon as a transaction comes. */
  readonly blockSeconds?: number
  /** Number of the first block; default 0. */
  readonly firstBlock?: number
}

/**
 * Starts an anvil and waits until it answers. It ends with `stop()`, or with this process, however that one ends.
 * Throws with the node's own words when it does not start.
 */
export async function startAnvil({ port, genesis, gasLimit, blockSeconds, firstBlock }: AnvilOptions): Promise<Anvil> {
  const binary = findBinary()
  // Folders left by processes that were killed together with the shells that would have cleaned up.
  for (const left of await foldersLeft(tmpdir(), nodeFolderPrefix)) await removeFolder(left)
  const folder = await folderOfProcess(tmpdir(), nodeFolderPrefix)
  const genesisFile = join(folder, 'genesis.json')
  await writeFile(genesisFile, JSON.stringify(genesis))
  const args = ['--host', '127.0.0.1', '--port', String(port), '--init', genesisFile]
  args.push('--cache-path', join(folder, 'states'))
  args.push(
    '--hardfork',
    'prague',
    '--order',
    'fifo',
    '--accounts',
    '0',
    '--threads',
    '1',
    '--gas-limit',
    String(gasLimit),
  )
  args.push('--quiet', '--no-request-size-limit')
  if (blockSeconds) args.push('--block-time', String(blockSeconds))
  if (firstBlock) args.push('--number', String(firstBlock))

  // The shell becomes the node; what it leaves behind reads the pipe to this process. When the pipe closes it ends the
  // node and, when that one is gone, removes its folder: the node itself leaves its states there when a signal ends it.
  // A group of its own keeps a terminal's Ctrl-C from reaching the node before whoever reads from it.
  const cleanUp =
    'cat <&3 >/dev/null; kill $$ 2>/dev/null; n=0; ' +
    `while kill -0 $$ 2>/dev/null && [ $((n+=1)) -lt ${stopSeconds * 10} ]; do sleep 0.1; done; ` +
    'kill -KILL $$ 2>/dev/null; rm -rf "$0"'
  const watched = `exec 3<&0; (${cleanUp}) & exec "$@" </dev/null 3<&-`
  const child = spawn('/bin/sh', ['-c', watched, folder, binary, ...args], { detached: true })
  let output = ''
  const collect = (text: Buffer) => {
    output = (output + text).slice(-outputCharacters)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  child.once('exit', () => child.stdin.destroy())
  // The shell writes to the output last, so it closes once the shell has cleaned up.
  const closed = once(child, 'close')

  const stop = async () => {
    const kill = setTimeout(() => child.kill('SIGKILL'), stopSeconds * 1000)
    child.kill('SIGTERM')
    await closed
    clearTimeout(kill)
  }
  const rpc = `http://127.0.0.1:${port}`
  try {
    await untilAnswering(rpc, () => child.exitCode ?? child.signalCode)
  } catch (error) {
    await stop()
    throw new Error(`anvil on port ${port}: ${(error as Error).message}\n${output}`)
  }
  return { rpc, pid: child.pid as number, stop }
}

/** Ignores failures: another process may be removing it, or a stopping node still writes; the next start retries. */
function removeFolder(folder: string) {
  return rm(folder, { recursive: true, force: true }).catch(() => {})
}

function findBinary(): string {
  try {
    return createRequire(import.meta.url).resolve(`${package_}/bin/anvil`)
  } catch {
    throw new Error(
      `anvil is not installed: the local chains need the optional package ${package_}, which exists for linux on x64`,
    )
  }
}

async function untilAnswering(rpc: string, ended: () => number | string | null) {
  const deadline = Date.now() + startSeconds * 1000
  while (Date.now() < deadline) {
    if (ended() !== null) throw new Error(`ended with ${ended()} before it answered`)
    if (await answers(rpc)) return
    await delay(pollMs)
  }
  throw new Error(`did not answer within ${startSeconds} s`)
}

async function answers(rpc: string): Promise<boolean> {
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return response.ok
  } catch {
    return false // not listening yet
  }
}
