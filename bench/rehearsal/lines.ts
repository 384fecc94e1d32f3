import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Fault orders for a TcpLink. */
type Act = 'freeze' | 'thaw' | 'cut' | 'mend'

/** A TcpLink in the process of the lines; a method resolves once its order is executed. */
export interface Line extends Readonly<Record<Act, () => Promise<void>>> {
  readonly port: number
  /** Sends new connections to another port, where the server listens now. */
  aim(port: number): Promise<void>
}

export interface Lines {
  readonly pid: number
  open(targetPort: number): Promise<Line>
  stop(): void
}

/** Order to the process of the lines; `port` is the line's, or for `open` the server's. */
export interface LineRequest {
  readonly id: number
  readonly act: Act | 'open' | { readonly aim: number }
  readonly port: number
}

export type LineAnswer = { readonly id: number } & ({ readonly port: number } | { readonly error: string })

const entry = fileURLToPath(new URL('../lines/main.ts', import.meta.url))
/** Nice value of the lines' process: a real network does not compete with its hosts for CPU. */
const priority = -10

/** Starts the process that lines are opened in. */
export async function startLines(): Promise<Lines> {
  const child = fork(entry)
  await once(child, 'spawn')
  const pid = child.pid as number
  try {
    setPriority(pid, priority)
  } catch {} // only root may raise a priority; otherwise it stays normal
  const waiting = new Map<number, (answer: LineAnswer) => void>()
  let asked = 0
  child.on('message', (answer: LineAnswer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  child.once('exit', () => {
    for (const [id, tell] of waiting) tell({ id, error: 'the process of the lines has ended' })
    waiting.clear()
  })
  const ask = async (act: LineRequest['act'], port: number): Promise<number> => {
    const id = ++asked
    const answer = await new Promise<LineAnswer>((resolve) => {
      waiting.set(id, resolve)
      child.send({ id, act, port } satisfies LineRequest, (error) => error && resolve({ id, error: error.message }))
    })
    if ('error' in answer) throw new Error(answer.error)
    return answer.port
  }
  return {
    pid,
    async open(targetPort) {
      const port = await ask('open', targetPort)
      const act = async (what: LineRequest['act']) => void (await ask(what, port))
      return {
        port,
        freeze: () => act('freeze'),
        thaw: () => act('thaw'),
        cut: () => act('cut'),
        mend: () => act('mend'),
        aim: (aim) => act({ aim }),
      }
    },
    stop() {
      if (child.connected) child.disconnect()
    },
  }
}
