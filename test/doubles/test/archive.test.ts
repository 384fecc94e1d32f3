import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Portal, startPortal } from '../portal/server.ts'
import { hash, send, toySource, used } from './toy.ts'

let portal: Portal

beforeAll(async () => {
  portal = await startPortal({ datasets: { toy: toySource() }, chunksPerAnswer: 2 })
})
afterAll(() => portal.stop())

describe('the v2 archive', () => {
  test('tells its height and the worker of a block, and has the worker wait for one above it', async () => {
    const height = Number((await send('GET', `${portal.url}/network/toy/height`)).text)
    expect(height).toBeGreaterThanOrEqual(29)
    const worker = await send('GET', `${portal.url}/network/toy/3/worker`)
    expect(worker.headers['content-type']).toBe('text/plain')
    expect(worker.text.startsWith(portal.gatewayUrl('toy'))).toBe(true)
    expect((await send('GET', `${portal.url}/network/toy/${height + 1}/worker`)).status).toBe(503)
  })

  test('answers an array with the implied fields and the last scanned block', async () => {
    const worker = (await send('GET', `${portal.url}/network/toy/3/worker`)).text
    const body = { fromBlock: 3, toBlock: 29, fields: { log: { data: true } }, logs: [{ topic0: [used] }] }
    const { headers, text } = await send('POST', worker, { body })
    expect(headers['content-type']).toBe('application/json')
    const header = (number: number) => ({ number, hash: hash(number), parentHash: hash(number - 1) })
    expect(JSON.parse(text)).toEqual([
      { header: header(3) },
      { header: header(5), logs: [{ logIndex: 0, transactionIndex: 0, data: '0x05' }] },
      { header: header(6), logs: [{ logIndex: 0, transactionIndex: 0, data: '0x06' }] },
      { header: header(9) },
      { header: header(10) },
      { header: header(12), logs: [{ logIndex: 0, transactionIndex: 0, data: '0x0c' }] },
      { header: header(19) },
    ])
  })

  test('fails on command', async () => {
    portal.faults.add({ kind: 'status', status: 503 }, { route: 'height' })
    expect((await send('GET', `${portal.url}/network/toy/height`)).status).toBe(503)
    expect((await send('GET', `${portal.url}/network/toy/height`)).status).toBe(200)
  })
})
