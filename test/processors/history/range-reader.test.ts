import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { SourceFailure } from '../../../hosts/retries.ts'
import { Refusal } from '../../../ops/cli.ts'
import { RangeReader } from '../../../processors/history/range-reader.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import { type CannedServer, serveCanned } from '../../doubles/canned.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { chain } from '../backfill/load-run.ts'

const tokens = [chain.token]
const noBlocks = { add() {}, addBlock() {} }

let portal: Portal
beforeAll(async () => {
  portal = await startPortal({ datasets: { 'base-mainnet': chain.source } })
})
afterAll(() => portal?.stop())

test('an archive whose answers have no block is asked again as after a failure, with pauses and one warning', async () => {
  const blocks: object[] = []
  const archive: CannedServer = await serveCanned((path) =>
    path.endsWith('/worker') && path !== '/worker' ? { body: `${archive.url}/worker` } : { body: blocks },
  )
  onTestFinished(() => archive.stop())
  const warned: string[] = []
  const warn = (text: string) => void warned.push(text)
  const reader = new RangeReader(openHistory({ kind: 'archive', url: archive.url }, { tokens }), 5, 6, { warn })
  onTestFinished(() => reader.close())
  for (let answers = 0; answers < 2; answers++) {
    await reader.advance(noBlocks)
    await reader.advance(noBlocks)
  }
  expect(warned).toEqual([
    expect.stringMatching(/has no block; it is asked until it answers, the next time in 250 ms$/),
  ])
  blocks.push({ header: { number: 5, hash: '0x05', parentHash: '0x04', timestamp: 0 } })
  await reader.advance(noBlocks)
  expect(reader.next).toBe(6)
})

test.each(['portal', 'archive', 'rpc'] as const)(
  'a mood of a history source (%s) that lasts is waited out',
  async (kind) => {
    let moods = 40
    const server: CannedServer = await serveCanned((path) => {
      if (moods-- > 0) return { status: moods % 2 ? 503 : 429, headers: { 'retry-after': '0.01' }, body: 'overloaded' }
      if (kind === 'rpc') return { body: { jsonrpc: '2.0', id: 0, error: { code: -32601, message: 'not supported' } } }
      if (path.endsWith('/worker')) return { body: `${server.url}/answer` }
      const block = { header: { number: 5, hash: '0x05', parentHash: '0x04', timestamp: 0 } }
      return { body: kind === 'portal' ? JSON.stringify(block) : [block] }
    })
    onTestFinished(() => server.stop())
    const source =
      kind === 'rpc'
        ? { kind, url: server.url, chainId: 1, finalityConfirmation: 1, batch: 1 }
        : { kind, url: server.url, dataset: 'base-mainnet', key: undefined }
    const warned: string[] = []
    const warn = (text: string) => void warned.push(text)
    const reader = new RangeReader(openHistory(source, { tokens }), 5, 5, { warn })
    onTestFinished(() => reader.close())
    while (!reader.isDone && moods > 0) await reader.advance(noBlocks)
    // Behind the mood, the node may have said already that it does not know the method: a trouble of its own.
    expect(warned.filter((text) => !text.includes('not supported'))).toEqual([expect.any(String)])
    if (kind === 'rpc') return
    while (!reader.isDone) await reader.advance(noBlocks)
    expect(reader.next).toBe(6)
  },
)

test('only blocks that were read make failures forgotten, not an answer that merely begins', async () => {
  const source = { kind: 'portal', url: portal.url, dataset: 'base-mainnet', key: undefined } as const
  const read = async () => {
    const reader = new RangeReader(
      openHistory(source, { tokens }),
      chain.firstBlock,
      chain.lastBlock,
      { warn() {} },
      { attempts: 3 },
    )
    onTestFinished(() => reader.close())
    while (!reader.isDone) await reader.advance(noBlocks)
  }
  const { faults } = portal
  onTestFinished(() => faults.clear())
  for (let times = 0; times < 3; times++) {
    faults.add({ kind: 'cut', lines: 0, how: 'abort' })
    faults.add({ kind: 'cut', lines: 5, how: 'end' })
  }
  await read()
  expect(faults.pending).toBe(0)
  faults.add({ kind: 'cut', lines: 0, how: 'abort' }, { times: Infinity })
  await expect(read()).rejects.toThrow(/gave up after 3 attempts/)
})

test('an archive that dates a block in milliseconds is refused', async () => {
  const header = { number: 5, hash: '0x05', parentHash: '0x04', timestamp: 1_770_000_000_000 }
  const archive: CannedServer = await serveCanned((path) =>
    path.endsWith('/worker') && path !== '/worker' ? { body: `${archive.url}/worker` } : { body: [{ header }] },
  )
  onTestFinished(() => archive.stop())
  const reader = new RangeReader(openHistory({ kind: 'archive', url: archive.url }, { tokens }), 5, 6, { warn() {} })
  onTestFinished(() => reader.close())
  await expect(reader.advance(noBlocks)).rejects.toThrow(/dates block 5 \+058\d+-.*, later than now by more than a day/)
})

test('a status for an overload or an outage is a failure to wait out, whichever source sends it', async () => {
  const server = await serveCanned((path) => ({ status: Number(path.split('/')[1]), body: '' }))
  onTestFinished(() => server.stop())
  const failureOf = (kind: 'portal' | 'archive', status: number) =>
    openHistory({ kind, url: `${server.url}/${status}`, dataset: 'base-mainnet', key: undefined }, { tokens })
      .finalHeight()
      .catch((error: Error) => error)
  for (const kind of ['portal', 'archive'] as const) {
    for (const status of [429, 503, 521, 524, 529]) {
      expect(await failureOf(kind, status), `${kind} ${status}`).toBeInstanceOf(SourceFailure)
    }
    expect(await failureOf(kind, 404)).toBeInstanceOf(Refusal)
  }
})
