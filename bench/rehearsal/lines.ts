import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

/** What can be done to a TcpLink. */
type Act = 'freeze' | 'thaw' | 'cut' | 'mend'

/** A TcpLink of the process that has them; what is asked of it has happened when the answer is there. */
export interface Line extends Readonly<Record<Act, () => Promise<void>>> {
  readonly port: number
  /** Has new connections go to another port, where the server is now. */
  aim(port: number): Promise<void>
}

export interface Lines {
  readonly pid: number
  open(targetPort: number): Promise<Line>
  stop(): void
}

/** What is asked of the process that has the lines; `port` is the line's, or the server's of one to be opened. */
export interface LineRequest {
  readonly id: number
  readonly act: Act | 'open' | { readonly aim: number }
  readonly port: number
}

export type LineAnswer = { readonly id: number } & ({ readonly port: number } | { readonly error: string })

const entry = fileURLToPath(new URL('../lines/main.ts', import.meta.url))
/** A network takes no turns with the processes of its hosts. */
const priority = -10

/** Starts the process that lines are opened in. */
export async function startLines(): Promise<Lines> {
  const child = fork(entry)
  await once(child, 'spawn')
  const pid = child.pid as number
  try {
    setPriority(pid, priority)
  } catch {} // only root may; it has its share as others have then
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
