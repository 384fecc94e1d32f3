import { SourceFailure } from '../../hosts/retries.ts'
import { Refusal } from '../../ops/cli.ts'
import { ask, problemOf, type SourceAnswer, textOf } from '../source-request.ts'

interface PortalAddress {
  /** Address of the Portal, without the dataset. */
  readonly url: string
  readonly dataset: string
  readonly key?: string
}

export interface PreviousBlock {
  readonly number: number
  readonly hash: string
}

/** Most characters of the answer that names the newest final block. */
const maxHeadText = 1_000
/** Most characters of the answer that lists blocks below a fork. */
const maxForkText = 64 * 1024

/** Client for one dataset of the Portal: the routes that are used, and what their statuses mean. */
export class PortalClient {
  readonly #folder: string
  readonly #key: string | undefined
  /** Dataset and host, for messages. */
  readonly name: string

  constructor({ url, dataset, key }: PortalAddress) {
    this.#folder = `${url.replace(/\/+$/, '')}/datasets/${dataset}`
    this.#key = key
    this.name = `${dataset} at the Portal ${new URL(url).host}`
  }

  /** Number of the newest final block. */
  async finalizedHead(): Promise<number> {
    const url = new URL(`${this.#folder}/finalized-head`)
    const answer = await ask({ url, method: 'GET', key: this.#key })
    if (answer.status !== 200) throw await this.#refusal(answer)
    const head = JSON.parse(await textOf(answer, maxHeadText))
    // null while a server is starting
    if (!Number.isSafeInteger(head?.number)) throw new SourceFailure(`${this.name} has no final block yet`)
    return head.number
  }

  /**
   * Asks for final blocks. 'frontier': there are none yet. `previousBlocks`: the block before the first one asked for
   * is not the one the query names; these are the blocks that are there instead, in no particular order.
   */
  async finalizedStream(body: string): Promise<SourceAnswer | 'frontier' | { previousBlocks: PreviousBlock[] }> {
    const url = new URL(`${this.#folder}/finalized-stream`)
    const answer = await ask({ url, method: 'POST', body, key: this.#key })
    if (answer.status === 200) return answer
    if (answer.status === 409) return { previousBlocks: readPreviousBlocks(await textOf(answer, maxForkText)) }
    if (answer.status !== 204) throw await this.#refusal(answer)
    answer.body.destroy()
    return 'frontier'
  }

  async #refusal(answer: SourceAnswer): Promise<Refusal> {
    return new Refusal(
      `${await problemOf(this.name, answer)}; check PORTAL_URL, PORTAL_API_KEY and the chain's dataset`,
    )
  }
}

function readPreviousBlocks(text: string): PreviousBlock[] {
  try {
    const { previousBlocks } = JSON.parse(text)
    return Array.isArray(previousBlocks) ? previousBlocks : []
  } catch {
    return []
  }
}
