import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { cosigner } from '../../transparency/cosignature.ts'
import { witnessServer } from '../../witness/server.ts'
import { WatchedLog } from '../../witness/watched-log.ts'
import { newPem } from '../transparency/held-log.ts'

test('who sends too much is told so, also when it reads nothing before all is sent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'witness-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const by = cosigner('witness.example/w1', newPem())
  const log = { readFile: async () => Buffer.alloc(0), wait: async () => {} }
  const watched = new WatchedLog({ path: join(folder, 'log'), cosigner: by, log, now: () => new Date() })
  const server = witnessServer(watched, by.key)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const body = 'x'.repeat(3_000_000)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', reject)
    const head = `POST /add-checkpoint HTTP/1.1\r\nHost: witness\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(head + body, () => text(socket).then(resolve, reject))
  })
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
})
