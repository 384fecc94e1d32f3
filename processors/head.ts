import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Progress } from './progress.ts'
import type { SdkHotSource, SdkNode } from './sdk.ts'

/** Milliseconds between questions for the chain's head. */
export const headPollMs = 1_000
/** Before a head is tried again that vanished while it was read. */
const retryMs = 100

/**
 * Makes a source follow the chain's head by its hash. The SDK asks a node without subscriptions for the head's number
 * alone, and so does not see a reorg before the new chain is longer than the old one was.
 */
export function followHead<S extends SdkHotSource>(source: S, node: SdkNode, progress: Progress, log: Logger): S {
  source.polling = async (navigate, isEnd) => {
    let seen: string | undefined
    while (!isEnd()) {
      const head = await readHead(node)
      if (head) progress.seeHead(head.height)
      let pause = headPollMs
      if (head && head.hash !== seen) {
        try {
          await navigate(head)
          seen = head.hash
        } catch (error) {
          if (!isInconsistent(error)) throw error
          log.debug(`the chain changed while it was read: ${(error as Error).message}`)
          pause = retryMs
        }
      }
      await delay(pause)
    }
  }
  return source
}

/** Undefined when the node has none for a moment, as nodes behind a balancer do. */
async function readHead(node: SdkNode): Promise<{ height: number; hash: string } | undefined> {
  const block = await node.call<{ number: string; hash: string } | null>('eth_getBlockByNumber', ['latest', false])
  return block ? { height: Number(block.number), hash: block.hash } : undefined
}

/** The SDK marks what the next question will put right. */
function isInconsistent(error: unknown): boolean {
  return (error as { __sqd_data_consistency_error?: boolean }).__sqd_data_consistency_error === true
}
