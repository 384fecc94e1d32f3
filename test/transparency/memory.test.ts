import fs, { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { logMemory } from '../../transparency/log-memory.ts'
import { HeldLog, newPem } from './held-log.ts'

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'log-memory-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}
const entry = (number: number) => Buffer.from(`{"number":${number}}`)
async function signed(epoch: number, count: number, pem = newPem()) {
  const log = new HeldLog(
    Array.from({ length: count }, (_, number) => entry(number)),
    { epoch, pem },
  )
  return { note: await log.note(), key: log.signer.key }
}

/** What the system is asked to flush from now on: each path, and what the file had in it then; undefined: there was none. */
function watchFlushes(file: string): { readonly path: string; readonly kept: string | undefined }[] {
  const flushed: { path: string; kept: string | undefined }[] = []
  const real = fs.fsyncSync
  fs.fsyncSync = (fd) => {
    flushed.push({
      path: readlinkSync(`/proc/self/fd/${fd}`),
      kept: existsSync(file) ? readFileSync(file, 'utf8') : undefined,
    })
    real(fd)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    fs.fsyncSync = real
    syncBuiltinESMExports()
  })
  return flushed
}

test('a checkpoint that is kept outlives a loss of power: the file is flushed, and its folder once it has its name', async () => {
  const folder = await newFolder()
  const path = join(folder, 'key.pem.checkpoint')
  const one = await signed(1, 3)
  const flushed = watchFlushes(path)
  logMemory(path).write(one)
  expect(flushed).toEqual([
    { path: `${path}.new`, kept: undefined },
    { path: folder, kept: `${one.key}\n${one.note}` },
  ])
})

test('the last checkpoint of each log that ended stays, the last log first', async () => {
  const folder = await newFolder()
  const path = join(folder, 'key.pem.checkpoint')
  const memory = logMemory(path)
  expect([memory.read(), memory.ended()]).toEqual([undefined, []])
  const pem = newPem()
  const shown = [await signed(1, 2, pem), await signed(1, 3, pem), await signed(2, 1, pem), await signed(4, 5, pem)]
  const kept = shown.map((one) => memory.write(one))
  expect(kept).toEqual([undefined, undefined, `${path}-1`, `${path}-2`])
  expect(memory.read()).toMatchObject(shown[3]!)
  expect(memory.ended()).toMatchObject([shown[2]!, shown[1]!])
  expect((await readdir(folder)).sort()).toEqual(['key.pem.checkpoint', 'key.pem.checkpoint-1', 'key.pem.checkpoint-2'])

  await writeFile(`${path}-1`, 'another')
  expect(() => memory.ended()).toThrow(`${path}-1 is not what the job kept there`)
})
