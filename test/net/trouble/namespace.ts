import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import { endOf, loader } from '../../support/mains.ts'
import { root } from '../../support/source-files.ts'
import { patienceMs } from '../../support/until.ts'

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
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  })
  const { code, stdout, stderr } = await endOf(child)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}
