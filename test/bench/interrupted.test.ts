import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/until.ts'

test('an interrupted benchmark leaves neither its server nor its folder', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'interrupted-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777) // as root the server is another user
  const run = spawn(process.execPath, ['scripts/bootstrap.mjs', 'bench/main.ts', 'farms', '--small'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void run.kill('SIGTERM'))
  await once(run.stdout, 'data')
  const ofBenches = async () => (await readdir(folder)).filter((name) => name.startsWith('bench-'))
  const [bench = ''] = await ofBenches()
  const running = () => readFile(join(folder, bench, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  await until('the server has its lock', async () => Number.parseInt(await running(), 10) > 0)
  const pid = Number.parseInt(await running(), 10)
  run.kill('SIGTERM')
  expect(await once(run, 'exit')).toEqual([143, null])
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(await ofBenches()).toEqual([])
})
