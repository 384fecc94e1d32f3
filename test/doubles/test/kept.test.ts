import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keptSource } from '../portal/kept-source.ts'
import { type Portal, startPortal } from '../portal/server.ts'
import { everyField, stream, toySource, used } from './toy.ts'

const query = { fromBlock: 3, toBlock: 27, fields: everyField, logs: [{ topic0: [used], transaction: true }] }

let folder: string
let portal: Portal
let blocksRead = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-answers-'))
  const source = toySource()
  const counted: typeof source = {
    ...source,
    blocks: (from, to) => {
      blocksRead++
      return source.blocks(from, to)
    },
  }
  portal = await startPortal({ datasets: { toy: keptSource(counted, folder) } })
})
afterAll(async () => {
  await portal.stop()
  await rm(folder, { recursive: true })
})

test('a kept answer is the answer, compressed or plain, and is made once', async () => {
  const plain = await startPortal({ datasets: { toy: toySource() } })
  const { lines: expected } = await stream(plain.url, query)
  await plain.stop()

  expect((await stream(portal.url, query)).lines).toEqual(expected)
  expect(await readdir(folder)).toEqual([expect.stringMatching(/-10-19\.jsonl\.gz$/)])
  blocksRead = 0
  expect((await stream(portal.url, query)).lines).toEqual(expected)
  expect((await stream(portal.url, query, { encoding: 'identity' })).lines).toEqual(expected)
  expect(blocksRead).toBe(4) // the parts of chunks at both ends, twice
})

test('another query has answers of its own, and a fault still cuts a kept one', async () => {
  const other = { ...query, fields: { block: { number: true } } }
  expect((await stream(portal.url, other)).lines).not.toEqual((await stream(portal.url, query)).lines)
  portal.faults.add({ kind: 'cut', lines: 5, how: 'end' })
  const { text } = await stream(portal.url, query)
  expect(text.split('\n')).toHaveLength(6)
})
