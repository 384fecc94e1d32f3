import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDisplay, type ShardProgress } from '../../../processors/backfill/display.ts'
import { sizeOf } from '../../../processors/backfill/estimate.ts'

const shard = (firstBlock: number, lastBlock: number): ShardProgress => ({
  firstBlock,
  lastBlock,
  nextBlock: firstBlock,
  settlements: 0,
  added: 0,
  blocks: 0,
  startedAt: undefined,
})

/** Sets a shard's progress to these blocks and settlements, loaded within a minute. */
function advance(one: ShardProgress, blocks: number, settlements: number) {
  one.startedAt = Date.now() - 60_000
  one.nextBlock += blocks
  one.blocks += blocks
  one.settlements += settlements
  one.added += settlements
}

/** A stream that records its output: a terminal of this many columns; undefined: a file. */
function output(columns?: number) {
  const stream = Object.assign(new PassThrough(), columns ? { isTTY: true, columns, rows: 40 } : {})
  let written = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  return { out: stream as unknown as NodeJS.WriteStream, written: () => written }
}

/** Lines on the screen after this output, with cursor moves and erasures carried out. */
function screen(text: string): string[] {
  const lines = ['']
  let row = 0
  let column = 0
  for (const [piece, count, letter] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|[\s\S]/g)) {
    const steps = Number(count || 1)
    if (letter === 'A') row = Math.max(0, row - steps)
    else if (letter === 'G') column = steps - 1
    else if (letter === 'K') lines[row] = (lines[row] ?? '').slice(0, count === '2' ? 0 : column)
    else if (letter === 'J') lines.length = row + 1
    else if (piece === '\n') {
      row++
      column = 0
    } else if (piece === '\r') column = 0
    else if (!letter) {
      lines[row] = (lines[row] ?? '').padEnd(column).slice(0, column) + piece + (lines[row] ?? '').slice(column + 1)
      column++
    }
  }
  return lines.map((line) => (line ?? '').trimEnd()).filter((line) => line !== '')
}

/** The cursor is shown, and not hidden again after that. */
const cursorIsBack = /\x1b\[\?25h(?![\s\S]*\x1b\[\?25l)/

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('on a terminal', () => {
  test('there is a bar for each shard and one for all, with rates and the time that is left', () => {
    const shards = [shard(1_000, 1_999), shard(2_000, 4_999)]
    const { out, written } = output(160)
    const display = openDisplay('base', shards, out)
    advance(shards[0] as ShardProgress, 500, 60_000)
    display.update()
    vi.advanceTimersByTime(1_000)
    display.line('settlement_base_0000 is indexed and in its place (0.1 s)')
    vi.advanceTimersByTime(1_000)
    const [note, first, second, all, ...rest] = screen(written())
    expect(note).toBe('settlement_base_0000 is indexed and in its place (0.1 s)')
    expect(first).toMatch(/^base 1000 to 1999 █+░+ 50% 60000 settlements, 1000 rows\/s, 8 blocks\/s, 1:00 left$/)
    expect(second).toMatch(/^base 2000 to 4999 ░+ 0% 0 settlements$/)
    expect(all).toMatch(/^base in all █+░+ 12% 60000 settlements, 1000 rows\/s, 8 blocks\/s, 7:00 left$/)
    expect(rest).toEqual([])
    display.stop()
  })

  test('the bars are full at the end, and the cursor is back', () => {
    const listeners = process.listeners('exit')
    const shards = [shard(0, 99)]
    const { out, written } = output(120)
    const display = openDisplay('celo', shards, out)
    advance(shards[0] as ShardProgress, 100, 7)
    display.line('said just before the end')
    display.stop()
    expect(screen(written())).toEqual([
      'said just before the end',
      expect.stringMatching(/^celo 0 to 99 █+ 100% 7 settlements/),
      expect.stringMatching(/^celo in all █+ 100% 7 settlements/),
    ])
    expect(written()).toMatch(cursorIsBack)
    expect(process.listeners('exit')).toEqual(listeners)
  })

  test('the cursor is back when the process is told to end', () => {
    const { out, written } = output(120)
    const display = openDisplay('celo', [shard(0, 99)], out)
    expect(written()).not.toMatch(cursorIsBack)
    process.listeners('exit').at(-1)?.(0)
    expect(written()).toMatch(cursorIsBack)
    display.stop()
  })
})

test('in a file there is a line every few seconds for each shard at work and for all, without control characters', () => {
  const shards = [shard(1_000, 1_999), shard(2_000, 4_999)]
  const { out, written } = output()
  const display = openDisplay('base', shards, out)
  advance(shards[0] as ShardProgress, 500, 60_000)
  display.update()
  expect(written()).toBe('')
  vi.advanceTimersByTime(5_000)
  expect(written().split('\n')).toEqual([
    expect.stringMatching(/^base 1000 to 1999: 50\.0 %, 60000 settlements, 923 rows\/s, 8 blocks\/s, 1:05 left$/),
    expect.stringMatching(/^base in total: 12\.5 %, 60000 settlements, 923 rows\/s, 8 blocks\/s, 7:35 left$/),
    '',
  ])
  display.stop()
  expect(written()).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
})

test('the size of a load is said in a unit that can be read', () => {
  expect([1, 9_999, 10_001, 481_234].map((megabytes) => sizeOf(megabytes * 1024 ** 2))).toEqual([
    '1 MB',
    '9999 MB',
    '10 GB',
    '470 GB',
  ])
})
