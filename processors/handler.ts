import type { Store } from '@subsquid/typeorm-store'
import type { Logger } from 'pino'
import { Any } from 'typeorm'
import type { ChainSettings } from '../config/chains.file.ts'
import { BuilderCode } from '../db/model/builderCode.model.ts'
import { ExactAmount } from '../db/model/exactAmount.model.ts'
import { Feedback } from '../db/model/feedback.model.ts'
import { Payment } from '../db/model/payment.model.ts'
import { Registration } from '../db/model/registration.model.ts'
import { withoutBackfilled } from './backfilled.ts'
import type { ChainBlock } from './mapping/block.ts'
import { custodyChanges } from './mapping/custody.ts'
import { applyFeedbackEvents, feedbackEvents, feedbackResponses } from './mapping/feedback.ts'
import { paymentContractsOf } from './mapping/payment-kinds.ts'
import { operatorChanges, registrationEvents } from './mapping/registration-events.ts'
import { applyRegistrationEvents, registrationId } from './mapping/registrations.ts'
import { tokensOf } from './mapping/scale.ts'
import { settleBlocks } from './mapping/settle-blocks.ts'
import type { FindCalls } from './mapping/settlements.ts'
import { upgradesIn } from './mapping/upgrades.ts'
import type { Progress } from './progress.ts'
import { ofKnownRecipients } from './scope/recipients.ts'
import type { Scope } from './scope/scope.ts'
import { connectionOf } from './store/connection.ts'
import { registryEvents } from './store/registry-events.ts'
import { toBuilderCodes, toExactAmounts, toPayment } from './store/settlement-record.ts'
import { writeSettlements, writeUnpaid } from './store/writer.ts'

interface Mapping {
  readonly chain: ChainSettings
  readonly findCalls: FindCalls
  /** Whose settlements are written. */
  readonly scope: Scope
  readonly progress: Progress
  readonly log: Logger
}

/** A run of blocks, in order, and the store of the transaction they are written in. */
interface Batch {
  readonly store: Store
  readonly blocks: readonly ChainBlock[]
}

/**
 * Builds the SDK's batch handler, which maps blocks to rows and writes them. It may run again for the same blocks when
 * their transaction was rolled back, so it changes nothing but the store; `progress` counts and tells what is committed.
 */
export function createHandler({ chain, findCalls, scope, progress, log }: Mapping): (batch: Batch) => Promise<void> {
  const tokens = tokensOf(chain)
  const contracts = paymentContractsOf(chain.paymentContracts)
  progress.onUpgrade = ({ timestamp: _, ...upgrade }) => {
    const kind = tokens.has(upgrade.contract) ? 'token' : 'registry'
    log.warn(upgrade, `a ${kind} was upgraded: check that its events still mean the same`)
  }
  return async ({ store, blocks }) => {
    // First, because it checks the blocks.
    const settled = await settleBlocks(chain.name, tokens, blocks, findCalls, contracts)
    await writeRegistrations(store, chain, blocks)
    await writeFeedback(store, chain, blocks)
    await writeCustody(store, chain, blocks)
    const db = connectionOf(store)
    const found = await withoutBackfilled(db, chain, settled)
    const { settlements, payments, unpaid } = scope === 'all' ? found : await ofKnownRecipients(db, chain, found)
    await writeSettlements(store, settlements)
    await store.insert(payments.map((row) => new Payment(toPayment(row))))
    const rows = [...settlements, ...payments]
    await store.insert(toBuilderCodes(rows).map((codes) => new BuilderCode(codes)))
    await store.insert(toExactAmounts(rows).map((exact) => new ExactAmount(exact)))
    await writeUnpaid(store, chain.name, unpaid)
    progress.add(blocks, settlements.length, unpaid, upgradesIn(chain, blocks))
  }
}

async function writeRegistrations(store: Store, chain: ChainSettings, blocks: readonly ChainBlock[]) {
  await store.insert(blocks.flatMap((block) => operatorChanges(chain.name, block, chain.registry.address)))
  const events = blocks.flatMap((block) => registrationEvents(block, chain.registry.address))
  if (events.length === 0) return
  const ids = [...new Set(events.map(({ agentId }) => registrationId(chain.name, agentId)))]
  const existing = await store.findBy(Registration, { id: Any(ids) })
  const { registrations, transfers, metadata, wallets, approvals } = applyRegistrationEvents(
    chain.name,
    existing,
    events,
  )
  await store.upsert(registrations)
  await store.insert(transfers)
  await store.upsert(metadata)
  await store.insert(wallets)
  await store.insert(approvals)
  await store.insert(registryEvents(chain.name, events))
}

async function writeFeedback(store: Store, chain: ChainSettings, blocks: readonly ChainBlock[]) {
  await store.insert(blocks.flatMap((block) => feedbackResponses(chain.name, block, chain.reputation.address)))
  const events = blocks.flatMap((block) => feedbackEvents(chain.name, block, chain.reputation.address))
  if (events.length === 0) return
  const revoked = events.flatMap((event) => (event.kind === 'revoked' ? [event.id] : []))
  const existing = revoked.length > 0 ? await store.findBy(Feedback, { id: Any(revoked) }) : []
  await store.upsert(applyFeedbackEvents(existing, events))
  await store.insert(registryEvents(chain.name, events))
}

async function writeCustody(store: Store, { name, social }: ChainSettings, blocks: readonly ChainBlock[]) {
  if (!social) return
  await store.insert(blocks.flatMap((block) => custodyChanges(name, block, social.idRegistry)))
}
