import { events as identity } from '../../abi/generated/identity-registry.ts'
import { events as reputation } from '../../abi/generated/reputation-registry.ts'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import type { FeedbackResponse } from '../../db/model/feedbackResponse.model.ts'
import type { FidCustody } from '../../db/model/fidCustody.model.ts'
import type { RegistrationOperator } from '../../db/model/registrationOperator.model.ts'
import type { History, LogFilter } from '../history/history.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { custodyChanges } from '../mapping/custody.ts'
import { type FeedbackEvent, feedbackEvents, feedbackResponses } from '../mapping/feedback.ts'
import { operatorChanges, type RegistrationEvent, registrationEvents } from '../mapping/registration-events.ts'
import { contractLogs } from '../source/wanted-logs.ts'
import { readBlocks } from './range-blocks.ts'

/** What the registries and the IdRegistry logged, in the order of the chain. */
export interface ContractEvents {
  readonly registrations: readonly RegistrationEvent[]
  readonly feedback: readonly FeedbackEvent[]
  readonly responses: readonly FeedbackResponse[]
  readonly custody: readonly FidCustody[]
  readonly operators: readonly RegistrationOperator[]
}

/** Reads the events of a range, and the hashes of its first and last block. `history` is opened for their logs. */
export async function readContractEvents(
  history: History,
  chain: ChainSettings,
  range: BlockRange,
  warn: (text: string) => void,
) {
  const registrations: RegistrationEvent[] = []
  const feedback: FeedbackEvent[] = []
  const responses: FeedbackResponse[] = []
  const custody: FidCustody[] = []
  const operators: RegistrationOperator[] = []
  const ends = await readBlocks(history, range, warn, (block) => {
    const events = eventsOfBlock(chain, block)
    registrations.push(...events.registrations)
    feedback.push(...events.feedback)
    responses.push(...events.responses)
    custody.push(...events.custody)
    operators.push(...events.operators)
  })
  return { events: { registrations, feedback, responses, custody, operators }, ...ends }
}

export function eventsOfBlock(
  { name, registry, reputation, social }: ChainSettings,
  block: ChainBlock,
): ContractEvents {
  return {
    registrations: registrationEvents(block, registry.address),
    feedback: feedbackEvents(name, block, reputation.address),
    responses: feedbackResponses(name, block, reputation.address),
    custody: social ? custodyChanges(name, block, social.idRegistry) : [],
    operators: operatorChanges(name, block, registry.address),
  }
}

/** Filters for the logs of all of a chain's contracts but its tokens. */
export function logsOfContracts(chain: ChainSettings): LogFilter[] {
  return contractLogs(chain).map(({ address, topic0 }) => ({ address: [address], topic0 }))
}

/** Filters for the registries' logs about some registrations, by id. */
export function logsOfAgents({ registry, reputation: feedback }: ChainSettings, ids: readonly bigint[]): LogFilter[] {
  const agents = ids.map((id) => `0x${id.toString(16).padStart(64, '0')}`)
  const { Registered, URIUpdated, MetadataSet, Transfer, Approval } = identity
  const { NewFeedback, FeedbackRevoked, ResponseAppended } = reputation
  const topics = (...events: readonly { readonly topic: string }[]) => events.map(({ topic }) => topic)
  return [
    { address: [registry.address], topic0: topics(Registered, URIUpdated, MetadataSet), topic1: agents },
    { address: [registry.address], topic0: topics(Transfer, Approval), topic3: agents },
    { address: [feedback.address], topic0: topics(NewFeedback, FeedbackRevoked, ResponseAppended), topic1: agents },
  ]
}
