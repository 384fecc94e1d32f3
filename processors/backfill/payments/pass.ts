import type pg from 'pg'
import { inTransaction } from '../../../db/pool.ts'
import { readChainState } from '../../../db/queries/chain/chain-state.ts'
import { insertCodesOfStored } from '../../../db/queries/chain/payments/builder-codes.ts'
import { movePass, type PaymentPass, readPasses } from '../../../db/queries/chain/payments/payment-passes.ts'
import { insertPayments } from '../../../db/queries/chain/payments/payments.ts'
import { lockRollup } from '../../../db/queries/rollup/cursor.ts'
import { wantedOf } from '../../history/history.ts'
import { Slices } from '../../history/slices.ts'
import { findCallsIn, openHistory, openWitness } from '../../history/sources.ts'
import { paymentContractsOf } from '../../mapping/payment-kinds.ts'
import type { PaymentRow } from '../../mapping/payments.ts'
import { Refusal } from '../../refusal.ts'
import { ofReadRecipients } from '../../scope/recipients.ts'
import { type CodedRow, codePages } from '../../store/builder-code-record.ts'
import { jsonPages } from '../../store/json-rows.ts'
import { toPayment } from '../../store/payment-record.ts'
import { tallyPayments } from '../../store/payment-tally.ts'
import { BlockEncoder } from '../block-encoder.ts'
import type { BackfillConfig } from '../config.ts'

/** A step is committed when it has this many payments and builder codes or (`maxStepMs`) this age. */
const maxStepRows = 5_000
const maxStepMs = 5_000

interface SecondPass {
  readonly pool: pg.Pool
  readonly config: BackfillConfig
  /** Newest final block of the source. */
  readonly finalHeight: number
  readonly print: (line: string) => void
  readonly warn: (text: string) => void
}

/**
 * Rereads blocks that were indexed before payments and builder codes were, and adds the rows that are missing. Each
 * step and its checkpoint are one transaction: the pass may be stopped at any time and resumes there. Prints a
 * certificate of each pass, over all payments of the source, whoever was paid. Throws a Refusal when another process
 * makes the same pass.
 */
export async function passOverPayments(work: SecondPass): Promise<void> {
  const { pool, config, print } = work
  const { name } = config.chain
  const passes = await readPasses(pool, name)
  if (passes.length === 0) print(`no blocks of ${name} lack their payments`)
  const finalBlock = Math.min((await readChainState(pool, name))?.finalizedBlock ?? -1, work.finalHeight)
  for (const pass of passes) await finish(work, pass, Math.min(pass.toBlock, finalBlock))
  for (const pass of await readPasses(pool, name)) print(describe(name, pass))
}

async function finish(work: SecondPass, pass: PaymentPass, toBlock: number): Promise<void> {
  const { pool, config, finalHeight, print, warn } = work
  const { chain, source, tokens } = config
  if (pass.nextBlock > toBlock) return
  // Below the first contract nothing was paid.
  const first = Math.min(...[...chain.tokens, ...chain.paymentContracts].map(({ fromBlock }) => fromBlock))
  const start = Math.min(Math.max(pass.nextBlock, first), toBlock)
  print(`reading blocks ${pass.nextBlock} to ${toBlock} of ${chain.name} for payments`)
  const wanted = wantedOf(chain)
  const history = openHistory(source, wanted)
  const witness = openWitness(source, chain.rpc, wanted, warn)
  const findCalls = findCallsIn(history, { ...chain, chain: chain.name, tokens, finalHeight }, warn)
  const encoder = new BlockEncoder(chain.name, new Set(tokens), findCalls, paymentContractsOf(chain.paymentContracts))
  const slices = new Slices(history, start, toBlock, start === pass.nextBlock ? pass.lastHash : null, { warn }, witness)
  let from = pass.nextBlock
  try {
    while (!slices.isDone) {
      const deadline = Date.now() + maxStepMs
      do {
        await slices.advance(encoder)
        encoder.pages.takeAll() // settlements, which are stored already
      } while (!slices.isDone && encoder.payments.length + encoder.codes.length < maxStepRows && Date.now() < deadline)
      encoder.unpaid = []
      const { next, lastHash = '' } = slices
      if (next === Math.max(from, start)) continue // the answer failed before its first block
      const found = encoder.payments.splice(0)
      await commit(pool, config, found, encoder.codes.splice(0), {
        fromBlock: pass.fromBlock,
        from,
        nextBlock: next,
        firstHash: slices.first?.hash ?? '',
        lastHash,
        payments: found.length,
        amount: found.reduce((sum, { gross }) => sum + gross, 0n),
        checksum: tallyPayments(found).paymentChecksum,
      })
      from = next
      print(`${chain.name} is read up to block ${next - 1} of ${toBlock}: ${found.length} payments more`)
    }
  } finally {
    slices.close()
  }
}

function commit(
  pool: pg.Pool,
  { chain, scope }: BackfillConfig,
  payments: readonly PaymentRow[],
  codes: readonly CodedRow[],
  step: Parameters<typeof movePass>[2],
): Promise<void> {
  return inTransaction(pool, async (db) => {
    const found = { settlements: [], payments, unpaid: [] }
    const kept = scope === 'all' ? found : await ofReadRecipients(db, chain, found)
    // The step's blocks may be rolled up already.
    await lockRollup(db, chain.name)
    for (const rows of jsonPages(kept.payments.map(toPayment))) await insertPayments(db, rows)
    for (const rows of codePages(codes)) await insertCodesOfStored(db, rows)
    if (await movePass(db, chain.name, step)) return
    throw new Refusal(`another process is reading ${chain.name} for payments, or resetting it; this step was not kept`)
  })
}

/** A pass's certificate as one line: two passes found the same when their lines are equal. */
function describe(chain: string, pass: PaymentPass): string {
  const { fromBlock, toBlock, nextBlock, payments, amount, checksum, firstHash, lastHash } = pass
  if (nextBlock <= toBlock) {
    return `blocks ${nextBlock} to ${toBlock} of ${chain} are not final yet: run the same command again later`
  }
  const sum = checksum.toString(16).padStart(16, '0')
  return `certificate: ${chain} ${fromBlock} to ${toBlock}: ${payments} payments, amount ${amount}, checksum ${sum}, first block ${firstHash}, last block ${lastHash}`
}
