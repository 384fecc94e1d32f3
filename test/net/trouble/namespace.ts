import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TestDatabase } from '../../support/database.ts'
import { endOf, loader } from '../../support/mains.ts'
import { root } from '../../support/source-files.ts'
import { testTimeoutMs } from '../../support/until.ts'
import { databaseSocket, relayTo } from './database-relay.ts'

/**
 * What a script of this folder prints as JSON, run in namespaces of its own for network and mounts that these commands
 * have prepared.
 */
export async function runInNamespace(script: string, prepare: readonly string[], args: readonly string[] = []) {
  const commands = [...prepare, 'exec "$@"'].join(' && ')
  const program = [process.execPath, ...loader, join(root, 'test/net/trouble', script), ...args]
  const child = spawn('unshare', ['--net', '--mount', '--', 'sh', '-c', commands, 'sh', ...program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: testTimeoutMs,
    killSignal: 'SIGKILL',
  })
  const { code, stdout, stderr } = await endOf(child)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

/**
 * Runs scripts in a network that is no more than some addresses, where a database of outside is reached and names are asked
 * of the script itself; to be called where hooks may be.
 */
export function aroundDatabase(database: TestDatabase) {
  let folder: string
  const relay = relayTo(() => connect(Number(new URL(database.url).port), '127.0.0.1'))
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trouble-'))
    await writeFile(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n')
    await once(relay.listen(join(folder, databaseSocket)), 'listening')
  })
  afterAll(async () => {
    relay.close()
    await rm(folder, { recursive: true })
  })
  return (script: string, addresses: readonly string[], args: readonly string[] = []) => {
    const resolver = `mount --bind ${join(folder, 'resolv.conf')} /etc/resolv.conf`
    const network = ['link set lo up', ...addresses].map((command) => `ip ${command}`)
    return runInNamespace(script, [resolver, ...network], [database.url, folder, ...args])
  }
}
