import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { hideAddresses } from '../../hosts/host.ts'
import { isAnswer, pauseMs, Seldom, sourceBackoff } from '../../hosts/retries.ts'
import type { Progress } from '../progress.ts'
import { NodeReader } from './node-reader.ts'
import {
  type SdkBatch,
  type SdkBlockRef,
  type SdkClient,
  type SdkHotState,
  type SdkHotUpdate,
  type SdkNode,
  SdkNodeSourceClass,
  type SdkRequest,
} from './sdk.ts'
import type { SdkLog } from './sdk-log.ts'

interface NodeSourceOptions {
  readonly node: SdkClient
  /** Blocks below the head that may still be replaced. */
  readonly finalityConfirmation: number
  /** Whether the chain's logs blooms are compared with its logs. */
  readonly bloom: boolean
  readonly progress: Progress
  readonly log: Logger
  readonly sdkLog: SdkLog
}

/** Milliseconds between questions for the chain's head. */
const headPollMs = 1_000
/** Pauses before what the node says of the head is read again because it contradicts itself: soon, the head moves on. */
const hotBackoff = { baseMs: 100, capMs: 2_000 }
/** How often the node may contradict the last final block that was handed over, before the contradiction is passed on. */
const maxForeign = 5
/** Transient failures in a row that are tolerated; more of them end the process. */
const maxFailures = 30
/** Failures in a row after which a warning is due: a node that is behind for a moment gets none. */
const failuresToTell = 10

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
  readonly #seldom = new Seldom()

  constructor({ node, finalityConfirmation, bloom, progress, log, sdkLog }: NodeSourceOptions) {
    super({ rpc: node, finalityConfirmation, headPollInterval: headPollMs, log: sdkLog })
    this.rpc = NodeReader.of(node, sdkLog, bloom, () => progress.bloomMismatches++)
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

  /**
   * Final blocks. Where the node contradicts itself they are read again until it does not, except for a block that was
   * handed over already: what is wrong with that one is for the reader of the batches to find out.
   */
  override async *getFinalizedBlocks(requests: SdkRequest[], stopOnHead: boolean): AsyncGenerator<SdkBatch> {
    let last: SdkBlockRef | undefined
    let failures = 0
    let foreign = 0
    for (;;) {
      const left = last ? above(requests, last.height) : requests
      try {
        for await (const batch of super.getFinalizedBlocks(left, stopOnHead)) {
          const headers: SdkHeader[] = batch.blocks.map(({ header }) => header)
          checkLinks(headers)
          if (last && !follows(headers[0], last) && ++foreign < maxForeign) throw contradiction(headers[0], last)
          yield batch
          last = headers.at(-1) ?? last
          failures = 0
          foreign = 0
        }
        return
      } catch (error) {
        if (!isInconsistent(error) && !isAssertion(error)) throw error
        this.#tell('history', error as Error)
        await delay(pauseMs(sourceBackoff, ++failures))
      }
    }
  }

  #tell(part: string, error: Error) {
    if (!this.#seldom.isDue(part)) return
    this.#log.warn(`the node contradicts itself: ${hideAddresses(error.message)}; it is asked until it does not`)
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
        if (failures >= failuresToTell) this.#tell('head', error as Error)
        else this.#log.debug(`the chain changed while it was read: ${hideAddresses((error as Error).message)}`)
        pause = pauseMs(hotBackoff, failures)
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
  return isInconsistent(error) || isAnswer(error) || isAssertion(error)
}

function isAssertion(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_ASSERTION'
}

/** Whether the SDK marked the error as a contradiction in the node's data, which the next request may cure. */
function isInconsistent(error: unknown): boolean {
  return (error as { __sqd_data_consistency_error?: boolean }).__sqd_data_consistency_error === true
}

type SdkHeader = SdkBlockRef & { readonly parentHash: string }

/** Throws when blocks of one answer do not form a chain. */
function checkLinks(headers: readonly SdkHeader[]) {
  for (const [place, header] of headers.entries()) {
    const before = headers[place - 1]
    if (before && !follows(header, before)) throw contradiction(header, before)
  }
}

function follows(header: SdkHeader | undefined, before: SdkBlockRef): boolean {
  return !header || header.height !== before.height + 1 || header.parentHash === before.hash
}

/** An error as the SDK's for data that contradicts itself. */
function contradiction(header: SdkHeader | undefined, { height, hash }: SdkBlockRef): Error {
  const message = `block ${header?.height} has parent ${header?.parentHash}, but block ${height} is ${hash}`
  return Object.assign(new Error(message), { __sqd_data_consistency_error: true })
}

/** What is left to ask for above a block. */
function above(requests: SdkRequest[], height: number): SdkRequest[] {
  return requests
    .filter(({ range: { to } }) => to === undefined || to > height)
    .map(({ range, request }) => ({ range: { ...range, from: Math.max(range.from, height + 1) }, request }))
}
