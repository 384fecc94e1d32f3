import { startTcpLink, type TcpLink } from '../../test/doubles/tcp-link.ts'
import type { LineAnswer, LineRequest } from '../rehearsal/lines.ts'

// TCP links whose faults are controlled, in a process of their own, so that no other work delays what passes through
// them. Takes orders from the process that started it and ends with it; it ignores a Ctrl-C before.

interface Open {
  readonly link: TcpLink
  target: number
}

const lines = new Map<number, Open>()
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit(0))
process.on('message', async ({ id, ...request }: LineRequest) => {
  const answer: LineAnswer = await answerTo(request).then(
    (port) => ({ id, port }),
    (error) => ({ id, error: String(error) }),
  )
  if (process.connected) process.send?.(answer)
})

/** Executes an order; returns the port of its line. */
async function answerTo({ act, port }: Omit<LineRequest, 'id'>): Promise<number> {
  if (act === 'open') return open(port)
  const line = lines.get(port)
  if (!line) throw new Error(`there is no line on port ${port}`)
  if (typeof act === 'object') line.target = act.aim
  else await line.link[act]()
  return port
}

async function open(target: number): Promise<number> {
  const line: Open = { link: await startTcpLink(() => line.target), target }
  lines.set(line.link.port, line)
  return line.link.port
}
