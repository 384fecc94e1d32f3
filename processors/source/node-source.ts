import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Progress } from '../progress.ts'
import { NodeReader } from './node-reader.ts'
import {
  isAnswer,
  type SdkBlockRef,
  type SdkClient,
  type SdkHotState,
  type SdkHotUpdate,
  type SdkNode,
  SdkNodeSourceClass,
  type SdkRequest,
} from './sdk.ts'
import { hideAddresses, type SdkLog } from './sdk-log.ts'

interface NodeSourceOptions {
  readonly node: SdkClient
  /** Blocks below the head that may still be replaced. */
  readonly finalityConfirmation: number
  readonly progress: Progress
  readonly log: Logger
  readonly sdkLog: SdkLog
}

/** Milliseconds between questions for the chain's head. */
const headPollMs = 1_000
/** Milliseconds before a retry when the head vanished while it was read. */
const retryMs = 100
/** Transient failures in a row that are tolerated; more of them end the process. */
const maxFailures = 30
/** One of this many failures in a row is logged as a warning: a node that is behind for a moment logs none. */
const failuresToTell = 50

/**
 * The SDK's source of a node's blocks, which reads them with a NodeReader and follows the chain's head by its hash.
 * The SDK asks a node without subscriptions for the head's number alone, and so does not see a reorg before the new
 * chain is longer than the old one was; and it takes whatever block has that number for the head, so that with two
 * nodes behind one address it can rest on the other one's.
 */
export class NodeSource extends SdkNodeSourceClass {
  readonly #node: SdkNode
  readonly #progress: Progress
  readonly #log: Logger
  /** Newest block that is indexed. */
  #tip: SdkBlockRef | undefined
  /** Highest block that was reported as final. */
  #final = 0

  constructor({ node, finalityConfirmation, progress, log, sdkLog }: NodeSourceOptions) {
    super({ rpc: node, finalityConfirmation, headPollInterval: headPollMs, log: sdkLog })
    this.rpc = new NodeReader(node, sdkLog)
    this.#node = node
    this.#progress = progress
    this.#log = log
  }

  /**
   * Newest final block. It never falls, although the head does in a reorg or at a node that is behind: the SDK asks
   * twice on its way to the tip, and asserts that what was final the first time is final the second time too.
   */
  override async getFinalizedHeight(): Promise<number> {
    this.#final = Math.max(this.#final, await super.getFinalizedHeight())
    return this.#final
  }

  override processHotBlocks(
    requests: SdkRequest[],
    state: SdkHotState,
    apply: (update: SdkHotUpdate) => Promise<void>,
  ): Promise<void> {
    this.#tip = state.top.at(-1) ?? state
    return super.processHotBlocks(requests, state, async (update) => {
      await apply(update)
      this.#tip = update.blocks.at(-1)?.header ?? update.baseHead
    })
  }

  override async polling(navigate: (head: SdkBlockRef) => Promise<void>, isEnd: () => boolean): Promise<void> {
    let seen: string | undefined
    let failures = 0
    while (!isEnd()) {
      let pause = headPollMs
      try {
        const head = await readHead(this.#node)
        if (head) this.#progress.seeHead(head.height)
        if (head && head.hash !== seen) {
          await navigate(head)
          const isElsewhere = this.#tip?.height === head.height && this.#tip.hash !== head.hash
          seen = isElsewhere ? undefined : head.hash
        }
        failures = 0
      } catch (error) {
        failures++
        if (!isPassing(error) || (!isInconsistent(error) && failures > maxFailures)) throw error
        const told = `the chain changed while it was read: ${hideAddresses((error as Error).message)}`
        this.#log[failures % failuresToTell === 0 ? 'warn' : 'debug'](told)
        pause = retryMs
      }
      await delay(pause)
    }
  }
}

/** Newest block of the node; undefined: it has none for a moment, as happens with nodes behind a balancer. */
async function readHead(node: SdkNode): Promise<SdkBlockRef | undefined> {
  const block = await node.call<{ number: string; hash: string } | null>('eth_getBlockByNumber', ['latest', false])
  return block ? { height: Number(block.number), hash: block.hash } : undefined
}

/**
 * Whether a failure is transient: a contradiction, a node's refusal of what it does not have yet, or an assertion of
 * the SDK, which then has changed nothing.
 */
function isPassing(error: unknown): boolean {
  return isInconsistent(error) || isAnswer(error) || (error as NodeJS.ErrnoException).code === 'ERR_ASSERTION'
}

/** Whether the SDK marked the error as a contradiction in the node's data, which the next request may cure. */
function isInconsistent(error: unknown): boolean {
  return (error as { __sqd_data_consistency_error?: boolean }).__sqd_data_consistency_error === true
}
