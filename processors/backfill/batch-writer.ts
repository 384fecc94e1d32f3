import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import { insertUnpaid, moveShard, type ShardStep } from '../../db/queries/chain/backfill.ts'
import { insertAttached } from '../../db/queries/chain/payments/attached.ts'
import { insertPayments } from '../../db/queries/chain/payments/payments.ts'
import { copySettlementsInto } from '../../db/queries/chain/settlement-copy.ts'
import { Refusal } from '../../ops/cli.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { UnpaidCount } from '../mapping/settle-blocks.ts'
import { jsonPages } from '../store/json-rows.ts'
import { copyHeader, copyTrailer } from '../store/settlement-copy.ts'
import { type AttachedRow, attachedPages, toPayment } from '../store/settlement-record.ts'

/** Bytes of decoded rows that may wait for the database before decoding pauses. */
const maxWaitingBytes = 8 * 1024 * 1024

interface BatchEnd {
  readonly unpaid: readonly UnpaidCount[]
  readonly payments: readonly PaymentRow[]
  readonly codes: readonly AttachedRow[]
  readonly step: ShardStep
}

interface Batch {
  readonly pages: Buffer[]
  end: BatchEnd | undefined
}

/**
 * Writes batches one after the other, each in a transaction: its rows by COPY while they are still being decoded, then
 * the shard's checkpoint. The caller decodes on while a batch is written and committed, up to a bound.
 */
export class BatchWriter {
  readonly #batches: Batch[] = [{ pages: [], end: undefined }]
  #waitingBytes = 0
  #wake: (() => void) | undefined
  #room: (() => void) | undefined
  #failure: Error | undefined
  readonly #done: Promise<void>
  #closed = false

  constructor(
    private readonly client: pg.Client,
    private readonly chain: string,
    private readonly table: string,
    private readonly committed: (step: ShardStep) => void,
  ) {
    this.#done = this.#run().catch((error: Error) => {
      this.#failure = error
      this.#room?.()
    })
  }

  /** Adds pages to the current batch; resolves when there is room for more. */
  async write(pages: readonly Buffer[]): Promise<void> {
    const batch = this.#batches.at(-1) as Batch
    for (const page of pages) {
      batch.pages.push(page)
      this.#waitingBytes += page.length
    }
    this.#wake?.()
    await this.#untilRoom()
  }

  /** Ends the current batch; it will be committed while the next one is decoded. */
  async end(end: BatchEnd): Promise<void> {
    const batch = this.#batches.at(-1) as Batch
    batch.end = end
    this.#batches.push({ pages: [], end: undefined })
    this.#wake?.()
    await this.#untilRoom()
  }

  /** Resolves when every batch that was ended is committed. */
  async close(): Promise<void> {
    this.#closed = true
    this.#wake?.()
    await this.#done
    if (this.#failure) throw this.#failure
  }

  async #untilRoom() {
    while (!this.#failure && (this.#waitingBytes > maxWaitingBytes || this.#batches.length > 2)) {
      await new Promise<void>((resolve) => {
        this.#room = resolve
      })
    }
    if (this.#failure) throw this.#failure
  }

  async #run() {
    for (;;) {
      const batch = this.#batches[0] as Batch
      if (batch.pages.length === 0 && !batch.end) {
        if (this.#closed) return
        await this.#untilWoken()
        continue
      }
      await this.#transaction(batch)
      this.#batches.shift()
      this.#room?.()
    }
  }

  async #untilWoken() {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  async #transaction(batch: Batch) {
    const { client } = this
    await client.query('begin')
    await this.#copy(batch)
    const { unpaid, payments, codes, step } = batch.end as BatchEnd
    if (unpaid.length > 0) await insertUnpaid(client, this.chain, unpaid)
    for (const rows of jsonPages(payments.map(toPayment))) await insertPayments(client, rows)
    for (const rows of attachedPages(codes)) await insertAttached(client, rows)
    if (!(await moveShard(client, step))) {
      await client.query('rollback')
      throw new Refusal(`another process loads the blocks from ${step.firstBlock} on; nothing of this batch is kept`)
    }
    await client.query('commit')
    this.committed(step)
  }

  async #copy(batch: Batch) {
    let copy: CopyStreamQuery | undefined
    let done: Promise<void> | undefined
    for (;;) {
      const page = batch.pages.shift()
      if (page) {
        if (!copy) {
          copy = this.client.query(copyFrom(copySettlementsInto(this.table)))
          done = finished(copy)
          done.catch(() => {}) // awaited below
          copy.write(copyHeader)
        }
        if (!copy.write(page)) await Promise.race([once(copy, 'drain'), done])
        this.#waitingBytes -= page.length
        this.#room?.()
      } else if (batch.end) {
        copy?.end(copyTrailer)
        await done
        return
      } else if (this.#closed) {
        throw new Error('the batch in hand was given up')
      } else await this.#untilWoken()
    }
  }
}
