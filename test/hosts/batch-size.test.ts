import { expect, test } from 'vitest'
import { BatchSize } from '../../hosts/batch-size.ts'

/** Sends batches to a host that answers as `takes` says. Returns the sizes that were refused. */
function send(size: BatchSize, batches: number, takes: (calls: number) => boolean): number[] {
  const refused: number[] = []
  for (let sent = 0; sent < batches; sent++) {
    const calls = size.now
    if (takes(calls)) size.served(calls)
    else {
      refused.push(calls)
      size.refused(calls)
    }
  }
  return refused
}

test('a size that was refused for a moment is reached again', () => {
  const size = new BatchSize(100)
  let refusals = 2
  expect(send(size, 500, () => refusals-- <= 0)).toEqual([100, 50])
  expect(size.now).toBe(100)
})

test('a host that always refuses more is asked for more ever more seldom', () => {
  const size = new BatchSize(100)
  const first = send(size, 100, (calls) => calls <= 8)
  expect(first.length).toBeGreaterThan(3)
  expect(size.now).toBeLessThanOrEqual(8)
  expect(send(size, 20_000, (calls) => calls <= 8).length).toBeLessThan(20)
})

test('a host that begins to refuse what it took is believed', () => {
  const size = new BatchSize(100)
  send(size, 10, () => true)
  send(size, 40, (calls) => calls <= 3)
  expect(size.now).toBeLessThanOrEqual(3)
})

test('a batch that failed is halved at once, and grows by one with each that is answered', () => {
  const size = new BatchSize(100)
  size.failed(100)
  expect(size.now).toBe(50)
  size.failed(9) // the last part of a longer list
  expect(size.now).toBe(5)
  send(size, 10, () => true)
  expect(size.now).toBe(15)
  expect(send(size, 200, () => true)).toEqual([])
  expect(size.now).toBe(100)
})
