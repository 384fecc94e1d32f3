import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startLines } from '../../bench/rehearsal/lines.ts'
import { settlePeople } from '../../bench/rehearsal/people.ts'
import { benchRehearsal } from '../../bench/rehearsal/rehearsal.ts'
import { startDevChain } from '../../devnet/chain/chain.ts'
import { withLock } from '../../ops/lock.mjs'

test('agents of the rehearsal are registered by few transactions, however many they are', async () => {
  const chain = await startDevChain('optimism')
  onTestFinished(() => chain.stop())
  const shape = { accounts: 250, agents: 150, holdings: 60 }
  const { hub, agents, claimants } = await settlePeople(shape, {
    registry: chain,
    social: chain,
    attempt: 0,
    claiming: 1,
  })
  onTestFinished(() => hub.stop())
  expect(agents).toHaveLength(151)
  expect(claimants).toHaveLength(1)
  const registered = await chain.client.getLogs({ address: chain.addresses.registry, fromBlock: 0n })
  const minted = registered.filter(({ topics }) => topics.length === 4 && Number(topics[1]) === 0)
  expect(minted).toHaveLength(210)
  expect(new Set(minted.map(({ transactionHash }) => transactionHash)).size).toBe(3)
})

test('a second rehearsal in a folder is refused, and what the first has there stays', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'what the first has'), '')
  await withLock({ name: `rehearsal ${folder}`, waitMs: 0 }, () =>
    expect(benchRehearsal({ rows: 1, folder })).rejects.toThrow(`a rehearsal is already running in ${folder}`),
  )
  expect(readdirSync(folder)).toEqual(['what the first has'])
})

test('a line goes silent, is cut, and follows its server, from a process of its own', async () => {
  const accepted: Socket[] = []
  const serve = async (says: string) => {
    const server = createServer((socket) => {
      accepted.push(socket.on('error', () => {}))
      socket.on('data', (data) => socket.write(`${says} ${data}`))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return (server.address() as { port: number }).port
  }
  const lines = await startLines()
  onTestFinished(() => lines.stop())
  const line = await lines.open(await serve('first'))
  const dial = async () => {
    const socket = connect(line.port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const ask = async (socket: Socket, text: string) => {
    socket.write(text)
    const [answer] = await once(socket, 'data')
    return String(answer)
  }
  const caller = await dial()
  expect(await ask(caller, 'hello')).toBe('first hello')

  await line.freeze()
  const late = ask(caller, 'late')
  await line.thaw()
  expect(await late).toBe('first late')

  const ended = once(caller, 'close')
  await line.cut()
  await ended
  await expect(dial()).rejects.toThrow()
  await line.mend()
  await line.aim(await serve('second'))
  expect(await ask(await dial(), 'hello')).toBe('second hello')

  lines.stop()
  await expect(line.freeze()).rejects.toThrow()
  for (const socket of accepted) socket.destroy()
})
